/** What jobs cost in resident memory: those that wait, and those that run. Also the parts that are measured. */
import { join } from 'node:path';
import { JobQueue, pipeline } from 'millrace';
import { mail } from '../contenders/millrace.ts';
import { BULK, type Payload, payloads } from '../contenders/queue.ts';
import { mustBe } from '../harness/ledger.ts';
import { hear, startPart } from '../harness/parts.ts';
import { residentMiB } from '../harness/resident.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { median } from '../harness/statistics.ts';
import { deferred } from '../harness/timing.ts';

interface Input {
  readonly database: string;
  /** Jobs to run before looking, so that code and caches are as warm as they get. */
  readonly warmUp: number;
}

export const memory: Scenario = {
  name: 'memory',
  title: 'resident memory per million pending and per thousand active jobs',
  mode: 'file, WAL, synchronous NORMAL',
  jobs: 1_000_000,
  quickJobs: 4_000,
  rounds: 3,
  measures: [
    'pending: fresh processes with a running queue on files with 8,000 jobs, with 100,000 more and with a million more. Each runs 2,000 jobs, collects garbage and is looked at (rss). Median of 3 looks.',
    'per million pending: from 8,000 jobs to a million more. It contains the filling of SQLite’s page cache, which is bounded (16 MB by default in better-sqlite3) and not a cost of each job.',
    'per million beyond 100k: from 100,000 more to a million more, per million. The cache is full on both sides: what is left is the cost of the jobs.',
    'active: one process runs 5,000 jobs to their end, collects, then has 5,000 running at once, collects again; the difference, per thousand.',
    'enqueued here: by how much a process has grown after it has enqueued the million itself, in bulk.',
  ],
  entries: () => [
    { contender: 'millrace', variant: 'pending', run: pending },
    { contender: 'millrace', variant: 'active', run: active },
  ],
};

async function pending(trial: Trial): Promise<Numbers> {
  const warmUp = trial.quick ? 50 : 2_000;
  const some = Math.ceil(trial.jobs / 10);
  const files = {
    few: { database: join(trial.shared, 'few.db'), jobs: warmUp * 4 },
    some: { database: join(trial.shared, 'some.db'), jobs: warmUp * 4 + some },
    many: { database: join(trial.shared, 'many.db'), jobs: warmUp * 4 + trial.jobs },
  };
  await fillUp(files.few.database, files.few.jobs);
  const before = await residentMiB();
  for (const { database, jobs } of Object.values(files)) await fillUp(database, jobs);
  const grown = (await residentMiB()) - before;
  const looks: Record<keyof typeof files, number[]> = { few: [], some: [], many: [] };
  for (let turn = 0; turn < (trial.quick ? 1 : 3); turn++) {
    for (const name of ['few', 'some', 'many'] as const) {
      const { database, jobs } = files[name];
      looks[name].push(await look({ database, warmUp }));
      await fillUp(database, jobs);
    }
  }
  const perMillion = (MiB: number, jobs: number) => (MiB / jobs) * 1_000_000;
  return {
    perMillionPendingMiB: perMillion(median(looks.many) - median(looks.few), trial.jobs),
    perMillionBeyond100kMiB: perMillion(median(looks.many) - median(looks.some), trial.jobs - some),
    // Later rounds find the files full already.
    ...(trial.round === 0 ? { enqueuedHereMiB: grown } : {}),
  };
}

async function look(input: Input): Promise<number> {
  const child = await startPart(new URL(import.meta.url), input);
  const resident = await hear<number>(child, 'residentMiB');
  child.kill('SIGKILL');
  return resident;
}

/** The part: a queue that has run some jobs and goes on holding sixteen of them. */
export default async function standBy({ database, warmUp }: Input): Promise<void> {
  const warm = deferred();
  let runs = 0;
  const work = pipeline('mail')
    .input<Payload>()
    .phase('send', () => {
      if (++runs === warmUp + 16) warm.resolve();
      return runs > warmUp ? new Promise<void>(() => {}) : undefined;
    });
  const queue = new JobQueue({ database, pipelines: [work] });
  await warm.promise;
  await queue.stats();
  await queue.listJobs({ status: 'pending', limit: 100 });
  process.send?.({ residentMiB: await residentMiB() });
}

async function active(trial: Trial): Promise<Numbers> {
  const jobs = trial.quick ? 200 : 5_000;
  const [warm, full] = [deferred(), deferred()];
  let [runs, done] = [0, 0];
  const end = deferred();
  const work = pipeline('mail')
    .input<Payload>()
    .phase('send', () => {
      if (++runs === 2 * jobs) full.resolve();
      return runs > jobs ? end.promise : undefined;
    });
  const queue = new JobQueue({ database: join(trial.folder, 'jobs.db'), pipelines: [work], concurrency: jobs });
  queue.on('job:completed', () => {
    if (++done === jobs) warm.resolve();
  });
  await enqueue(queue, 0, jobs);
  await warm.promise;
  const before = await residentMiB();
  await enqueue(queue, jobs, 2 * jobs);
  await full.promise;
  mustBe('active jobs', (await queue.stats()).jobs.active ?? 0, jobs);
  const grown = (await residentMiB()) - before;
  end.resolve();
  await queue.shutdown();
  return { perThousandActiveMiB: (grown / jobs) * 1_000 };
}

async function fillUp(database: string, wanted: number): Promise<void> {
  const producer = new JobQueue({ database, pipelines: [mail()], claim: false });
  await enqueue(producer, (await producer.stats()).jobs.pending ?? 0, wanted);
  await producer.shutdown();
}

async function enqueue(queue: JobQueue<[ReturnType<typeof mail>]>, from: number, to: number): Promise<void> {
  for (let n = from; n < to; n += BULK) {
    const list = payloads(n, Math.min(n + BULK, to));
    await queue.enqueueMany(list.map((data) => ({ name: 'mail' as const, data })));
  }
}
