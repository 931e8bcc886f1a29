/** How fast jobs are taken in: one caller, a hundred callers, and in bulk. Nothing runs them meanwhile. */
import { join } from 'node:path';
import { bullmq } from '../contenders/bullmq.ts';
import { graphile } from '../contenders/graphile-worker.ts';
import { growingId, openLimit, record, writer } from '../contenders/limit.ts';
import { millrace } from '../contenders/millrace.ts';
import { pgBoss } from '../contenders/pg-boss.ts';
import { plainjob } from '../contenders/plainjob.ts';
import { BULK, type Contender, entryOf, fill, type OpenQueue, payload, payloads } from '../contenders/queue.ts';
import { mustBe } from '../harness/ledger.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { perSecond } from '../harness/timing.ts';

const CALLERS = 100;

export const enqueue: Scenario = {
  name: 'enqueue',
  title: 'taking jobs in: one caller, a hundred callers, bulk of 1,000',
  mode: 'file, WAL, synchronous NORMAL; Redis with appendonly; PostgreSQL with synchronous_commit off',
  jobs: 20_000,
  quickJobs: 300,
  measures: [
    'sequential: one caller awaits each job before it adds the next; a quarter of the jobs.',
    `single: ${CALLERS} callers, each awaiting its own job before it adds the next; one call per job. plainjob's call is synchronous, so callers make no difference to it.`,
    `bulk: calls of ${BULK} jobs each, one after the other.`,
    'A job counts when the contender says that it is stored. Afterwards the store is asked how many jobs it has.',
    'limit: raw better-sqlite3 inserting the same rows, log entries and indexes in transactions of 1,000.',
  ],
  entries: () => [
    ...[millrace, plainjob, bullmq, pgBoss, graphile].map((contender) => entryOf(contender, measure)),
    { contender: 'limit', run: measureLimit },
  ],
  conclude: (results) => ({
    ratio: {
      'plainjob.single': results.ahead('plainjob', 'singlePerSecond'),
      'plainjob.sequential': results.ahead('plainjob', 'sequentialPerSecond'),
      'plainjob.bulk': results.ahead('plainjob', 'bulkPerSecond'),
      'bullmq.single': results.ahead('bullmq', 'singlePerSecond'),
      'bullmq.sequential': results.ahead('bullmq', 'sequentialPerSecond'),
      'bullmq.bulk': results.ahead('bullmq', 'bulkPerSecond'),
      'pg-boss.single': results.ahead('pg-boss', 'singlePerSecond'),
      'pg-boss.bulk': results.ahead('pg-boss', 'bulkPerSecond'),
      'graphile-worker.single': results.ahead('graphile-worker', 'singlePerSecond'),
      'graphile-worker.bulk': results.ahead('graphile-worker', 'bulkPerSecond'),
      'limit.bulk': results.ahead('limit', 'bulkPerSecond'),
    },
  }),
};

async function measure(contender: Contender, trial: Trial): Promise<Numbers> {
  const shapes = [
    ['sequentialPerSecond', sequential, Math.ceil(trial.jobs / 4)],
    ['singlePerSecond', concurrent, trial.jobs],
    ['bulkPerSecond', fill, trial.jobs],
  ] as const;
  const numbers: Record<string, number> = {};
  for (const [name, add, jobs] of shapes) {
    const warm = await contender.open(trial, { producerOnly: true, database: `warm-${name}.db` });
    await add(warm, Math.ceil(jobs / 4));
    await warm.close();
    const queue = await contender.open(trial, { producerOnly: true, database: `${name}.db` });
    numbers[name] = await perSecond(jobs, () => add(queue, jobs));
    mustBe(`jobs that ${contender.name} has stored`, (await queue.count()).waiting, jobs);
    await queue.close();
  }
  return numbers;
}

async function sequential(queue: OpenQueue, jobs: number): Promise<void> {
  for (let n = 0; n < jobs; n++) await queue.add(payload(n));
}

/** A hundred callers, each awaiting its own job before it adds the next. */
export async function concurrent(queue: OpenQueue, jobs: number): Promise<void> {
  let next = 0;
  const caller = async () => {
    while (next < jobs) await queue.add(payload(next++));
  };
  await Promise.all(Array.from({ length: CALLERS }, caller));
}

async function measureLimit(trial: Trial): Promise<Numbers> {
  const { birth } = await record(trial.folder);
  const once = async (file: string, jobs: number) => {
    const db = await openLimit(join(trial.folder, file));
    const write = writer(db, birth);
    const transaction = db.transaction((from: number, to: number) => {
      for (const data of payloads(from, to)) write(growingId(), JSON.stringify(data));
    });
    const speed = await perSecond(jobs, async () => {
      for (let from = 0; from < jobs; from += BULK) transaction.immediate(from, Math.min(from + BULK, jobs));
    });
    mustBe('rows of the limit', db.prepare<[], number>('SELECT count(*) FROM millrace_jobs').pluck().get()!, jobs);
    db.close();
    return speed;
  };
  await once('warm.db', Math.ceil(trial.jobs / 4));
  return { bulkPerSecond: await once('limit.db', trial.jobs) };
}
