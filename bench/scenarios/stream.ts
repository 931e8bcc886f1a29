/** How many events per second reach Server-Sent-Events readers: one of them, and a hundred. */
import { JobQueue } from 'millrace';
import { databaseOf, mail } from '../contenders/millrace.ts';
import { payloads } from '../contenders/queue.ts';
import { VerifyError } from '../harness/ledger.ts';
import type { Entry, Scenario, Trial } from '../harness/scenario.ts';

export const stream: Scenario = {
  name: 'stream',
  title: 'events per second to one and to a hundred SSE readers',
  mode: 'file, WAL, synchronous NORMAL; streams read in the same process, no sockets',
  jobs: 5_000,
  quickJobs: 50,
  measures: [
    'No-op jobs are enqueued and run while readers read `createEventStream`. Timed from the first enqueue until every reader has the completed event of every job; a hundred readers get a tenth of the jobs.',
    'events per second: events received by all readers together. Every reader must get each completed event exactly once, with growing ids.',
  ],
  entries: () => [entry(1, 1), entry(100, 10)],
};

function entry(readers: number, divisor: number): Entry {
  return {
    contender: 'millrace',
    variant: `${readers}`,
    async run(trial) {
      const jobs = Math.ceil(trial.jobs / divisor);
      await measure(trial, 'warm.db', Math.ceil(jobs / 4), readers);
      return { [`eventsPerSecond${readers}`]: await measure(trial, 'jobs.db', jobs, readers) };
    },
  };
}

async function measure(trial: Trial, name: string, jobs: number, readers: number): Promise<number> {
  const queue = new JobQueue({ database: databaseOf(trial, name), pipelines: [mail()] });
  const end = new AbortController();
  const reading = Array.from({ length: readers }, () => read(queue.createEventStream({ signal: end.signal }), jobs));
  const began = performance.now();
  await queue.enqueueMany(payloads(0, jobs).map((data) => ({ name: 'mail' as const, data })));
  const events = await Promise.all(reading);
  const took = performance.now() - began;
  end.abort();
  await queue.shutdown();
  return events.reduce((sum, each) => sum + each, 0) / (took / 1000);
}

/** Reads until every job's completed event is there; answers with how many events came. */
async function read(events: ReadableStream<Uint8Array>, jobs: number): Promise<number> {
  const decoder = new TextDecoder();
  const completed = new Set<string>();
  let [rest, count, last] = ['', 0, -1];
  for await (const chunk of events as unknown as AsyncIterable<Uint8Array>) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const id = /^id: ?([\d.]+)$/m.exec(block)?.[1];
      if (id === undefined) continue;
      count++;
      if (Number(id) <= last) throw new VerifyError(`Event ${id} came after event ${last}.`);
      last = Number(id);
      if (/^event: ?job:completed$/m.test(block)) completed.add(id);
    }
    if (completed.size === jobs) return count;
  }
  throw new VerifyError(`The stream ended after ${completed.size} of ${jobs} completed events.`);
}
