/** How long a job waits although nothing is in its way: from the call of enqueue to the handler, and to the completed event. */
import { setTimeout as sleep } from 'node:timers/promises';
import { bullmq } from '../contenders/bullmq.ts';
import { graphile } from '../contenders/graphile-worker.ts';
import { millrace } from '../contenders/millrace.ts';
import { plainjob } from '../contenders/plainjob.ts';
import { type Contender, entryOf, type OpenQueue, payload } from '../contenders/queue.ts';
import { Ledger } from '../harness/ledger.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { quantile } from '../harness/statistics.ts';

const JOBS_PER_SECOND = 1_000;

export const latency: Scenario = {
  name: 'latency',
  title: 'from enqueue to start and to the completed event, idle and under 1,000 jobs per second',
  mode: 'file, WAL, synchronous NORMAL; Redis with appendonly; PostgreSQL with synchronous_commit off',
  jobs: 3_000,
  quickJobs: 40,
  measures: [
    'idle: one job at a time, 2 to 51 ms of rest between a job and the next; a tenth of the jobs.',
    `loaded: ${JOBS_PER_SECOND} jobs per second, due at fixed times. A job's clock starts when it was due, so a stall counts for every job it delayed.`,
    'graphile-worker’s event comes before the completion is stored, so only its start is reported.',
    'Producer and worker are one process. plainjob polls, here every 50 ms; the others are woken.',
  ],
  entries: () => [millrace, plainjob, bullmq, graphile].map((contender) => entryOf(contender, measure)),
  conclude: (results) => ({
    ratio: Object.fromEntries(
      ['plainjob', 'bullmq', 'graphile-worker'].flatMap((peer) =>
        ['idleStartP50Ms', 'loadedStartP99Ms'].map((name) => [`${peer}.${name}`, results.cheaper(peer, name)]),
      ),
    ),
  }),
};

async function measure(contender: Contender, trial: Trial): Promise<Numbers> {
  await observe(contender, trial, 'warm.db', Math.ceil(trial.jobs / 4), paced);
  const idle = await observe(contender, trial, 'idle.db', Math.ceil(trial.jobs / 10), oneByOne);
  const loaded = await observe(contender, trial, 'loaded.db', trial.jobs, paced);
  const seen = { idleStart: idle.start, loadedStart: loaded.start };
  const told = { idleCompleted: idle.completed, loadedCompleted: loaded.completed };
  const all = contender.tellsWhenStored === false ? seen : { ...seen, ...told };
  return Object.fromEntries(
    Object.entries(all).flatMap(([name, times]) => [
      [`${name}P50Ms`, quantile(times, 0.5)],
      [`${name}P99Ms`, quantile(times, 0.99)],
    ]),
  );
}

interface Watch {
  readonly queue: OpenQueue;
  readonly jobs: number;
  /** When each job's clock began. */
  readonly due: Float64Array;
  /** Resolves when the job is done. */
  done(n: number): Promise<void>;
}

async function observe(
  contender: Contender,
  trial: Trial,
  database: string,
  jobs: number,
  produce: (watch: Watch) => Promise<void>,
): Promise<{ start: number[]; completed: number[] }> {
  const queue = await contender.open(trial, { database, lowLatency: true });
  const ledger = new Ledger(jobs);
  const [due, started, completed] = [new Float64Array(jobs), new Float64Array(jobs), new Float64Array(jobs)];
  const waiting = new Map<number, () => void>();
  await queue.work({
    concurrency: 100,
    onStart(n) {
      started[n] = performance.now();
      ledger.start(n);
    },
    onDone(n) {
      completed[n] = performance.now();
      ledger.done(n);
      waiting.get(n)?.();
    },
  });
  const done = (n: number) =>
    completed[n] ? Promise.resolve() : new Promise<void>((resolve) => waiting.set(n, resolve));
  await produce({ queue, jobs, due, done });
  await ledger.finished();
  ledger.verify('any order');
  await queue.close();
  const since = (times: Float64Array) => Array.from(times, (time, n) => time - due[n]!);
  return { start: since(started), completed: since(completed) };
}

async function oneByOne({ queue, jobs, due, done }: Watch): Promise<void> {
  for (let n = 0; n < jobs; n++) {
    // Never the same pause: a contender that polls would otherwise be met at the same point of its round each time.
    await sleep(2 + ((n * 13) % 50));
    due[n] = performance.now();
    await queue.add(payload(n));
    await done(n);
  }
}

/** Jobs are added when they are due, whether or not earlier ones have been answered. */
async function paced({ queue, jobs, due }: Watch): Promise<void> {
  const adding: unknown[] = [];
  const began = performance.now();
  for (let n = 0; n < jobs; ) {
    while (n < jobs && began + (n * 1_000) / JOBS_PER_SECOND <= performance.now()) {
      due[n] = began + (n * 1_000) / JOBS_PER_SECOND;
      adding.push(queue.add(payload(n++)));
    }
    await sleep(1);
  }
  await Promise.all(adding);
}
