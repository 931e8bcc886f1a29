/** How fast jobs that do nothing are run: what a queue itself costs. Inline, one process, the full log kept. */
import { join } from 'node:path';
import { bullmq } from '../contenders/bullmq.ts';
import { graphile } from '../contenders/graphile-worker.ts';
import { growingId, openLimit, record, writer } from '../contenders/limit.ts';
import { millrace } from '../contenders/millrace.ts';
import { pgBoss } from '../contenders/pg-boss.ts';
import { plainjob } from '../contenders/plainjob.ts';
import { type Contender, entryOf, fill, payload } from '../contenders/queue.ts';
import { Ledger, mustBe } from '../harness/ledger.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { drainWithProcesses, PROCESSES } from './drain-processes.ts';

const CONCURRENCY = 100;

export const drain: Scenario = {
  name: 'drain',
  title: 'running no-op jobs: inline in one process, and plainjob’s own shape, a process per worker',
  mode: 'file, WAL, synchronous NORMAL; Redis with appendonly; PostgreSQL with synchronous_commit off',
  jobs: 20_000,
  quickJobs: 300,
  measures: [
    `jobs: all are stored first; timed is from the start of the worker to the last stored completion. ${CONCURRENCY} in flight (plainjob: 1, it has no more).`,
    `processes: plainjob's published benchmark: 32,000 jobs, ${PROCESSES} processes on one file. Timed from a common start signal, processes being up, to the last stored completion.`,
    'Every job must have been started and completed exactly once, and (in one process) in the order of its birth.',
    `limit: raw better-sqlite3 reading due rows and writing the same rows and log entries, ${CONCURRENCY} jobs per transaction.`,
  ],
  entries: ({ jobs, quick }) => {
    const processJobs = quick ? jobs : Math.max(32_000, jobs);
    return [
      ...[millrace, plainjob, bullmq, pgBoss, graphile].map((contender) => entryOf(contender, measure)),
      { contender: 'limit', run: measureLimit },
      ...[millrace, plainjob].map((contender) =>
        entryOf(contender, (_, trial) => drainWithProcesses(contender, trial, processJobs), 'processes'),
      ),
    ];
  },
  conclude: (results) => ({
    ratio: {
      plainjob: results.ahead('plainjob', 'jobsPerSecond'),
      'plainjob.processes': results.ahead('plainjob', 'processesJobsPerSecond'),
      bullmq: results.ahead('bullmq', 'jobsPerSecond'),
      'pg-boss': results.ahead('pg-boss', 'jobsPerSecond'),
      'graphile-worker': results.ahead('graphile-worker', 'jobsPerSecond'),
      limit: results.ahead('limit', 'jobsPerSecond'),
    },
  }),
};

async function measure(contender: Contender, trial: Trial): Promise<Numbers> {
  await drainOnce(contender, trial, 'warm.db', Math.ceil(trial.jobs / 4));
  return { jobsPerSecond: await drainOnce(contender, trial, 'jobs.db', trial.jobs) };
}

/** Fills, drains, verifies; answers with jobs per second. */
export async function drainOnce(
  contender: Contender,
  trial: Trial,
  database: string,
  jobs: number,
  durability: 'process-crash' | 'power-loss' = 'process-crash',
): Promise<number> {
  const queue = await contender.open(trial, { database, durability });
  await fill(queue, jobs);
  const ledger = new Ledger(jobs);
  const began = performance.now();
  await queue.work({
    concurrency: CONCURRENCY,
    onStart: (n) => ledger.start(n),
    onDone: (n) => ledger.done(n),
  });
  const ended = await ledger.finished();
  ledger.verify(contender.order);
  const { waiting, done } = await queue.count();
  mustBe(`jobs still waiting in ${contender.name}`, waiting, 0);
  mustBe(`jobs done according to ${contender.name}`, done, jobs);
  await queue.close();
  return jobs / ((ended - began) / 1000);
}

async function measureLimit(trial: Trial): Promise<Numbers> {
  const recording = await record(trial.folder);
  const once = async (file: string, jobs: number): Promise<number> => {
    const db = await openLimit(join(trial.folder, file));
    const [bear, claim, complete] = [recording.birth, recording.claim, recording.completion].map((writes) =>
      writer(db, writes),
    );
    db.transaction(() => {
      for (let n = 0; n < jobs; n++) bear!(growingId(), JSON.stringify(payload(n)));
    })();
    const due = db.prepare<[number], { id: string; data: string }>(
      `SELECT id, data FROM millrace_jobs WHERE pipeline = 'mail' AND phase_index = 0
       AND status IN ('pending', 'retrying') ORDER BY priority DESC, scheduled_at, n LIMIT ?`,
    );
    const began = performance.now();
    let held: { id: string; data: string }[] = [];
    // As Millrace's turns: one transaction completes the jobs of the turn before and claims the next ones.
    const turn = db.transaction(() => {
      for (const { id, data } of held) complete!(id, data);
      held = due.all(CONCURRENCY);
      for (const { id, data } of held) claim!(id, data);
    });
    do turn.immediate();
    while (held.length > 0);
    const speed = jobs / ((performance.now() - began) / 1000);
    const count = (sql: string) => db.prepare<[], number>(sql).pluck().get()!;
    mustBe('completed rows', count(`SELECT count(*) FROM millrace_jobs WHERE status = 'completed'`), jobs);
    mustBe('log entries', count('SELECT count(*) FROM millrace_transitions'), 3 * jobs);
    db.close();
    return speed;
  };
  await once('warm.db', Math.ceil(trial.jobs / 4));
  return { jobsPerSecond: await once('limit.db', trial.jobs) };
}
