/** How long after a kill -9 every job that was running is running again. Also the part of the process that is killed. */
import { once } from 'node:events';
import { join } from 'node:path';
import { JobQueue, pipeline } from 'millrace';
import { type Payload, payloads } from '../contenders/queue.ts';
import { Ledger, mustBe } from '../harness/ledger.ts';
import { hear, startPart } from '../harness/parts.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { deferred } from '../harness/timing.ts';

interface Input {
  readonly database: string;
  readonly jobs: number;
}

export const recovery: Scenario = {
  name: 'recovery',
  title: 'kill -9 with thousands of jobs active: time until all of them run again',
  mode: 'file, WAL, synchronous NORMAL',
  jobs: 5_000,
  quickJobs: 100,
  measures: [
    'A process that runs all the jobs at once is killed. Timed is from `new JobQueue` on the same file in another process until every one of the jobs has been started again.',
    'No warm-up: a restart is always cold. Every job must be started exactly once, as attempt 2, and complete.',
  ],
  entries: () => [{ contender: 'millrace', run: measure }],
};

async function measure(trial: Trial): Promise<Numbers> {
  const { jobs } = trial;
  const database = join(trial.folder, 'jobs.db');
  const victim = await startPart(new URL(import.meta.url), { database, jobs } satisfies Input);
  await hear(victim, 'allActive');
  victim.kill('SIGKILL');
  await once(victim, 'exit');

  const ledger = new Ledger(jobs);
  const [all, end] = [deferred<number>(), deferred()];
  let running = 0;
  const began = performance.now();
  const queue = open(database, jobs, (n, attempt) => {
    mustBe(`attempt of job ${n}`, attempt, 2);
    ledger.start(n);
    if (++running === jobs) all.resolve(performance.now());
    return end.promise;
  });
  queue.on('job:completed', ({ job }) => ledger.done(job.data.n));
  queue.on('job:failed', ({ job }) => all.reject(job.error));
  const resumed = await all.promise;
  end.resolve();
  await ledger.finished();
  ledger.verify('any order');
  mustBe('completed jobs', (await queue.stats()).jobs.completed ?? 0, jobs);
  await queue.shutdown();
  return { resumedMs: resumed - began, perJobUs: ((resumed - began) * 1_000) / jobs };
}

/** The part: runs all jobs at once, says so, and waits for its end. */
export default async function victim({ database, jobs }: Input): Promise<void> {
  let running = 0;
  const all = deferred();
  const queue = open(database, jobs, () => {
    if (++running === jobs) all.resolve();
    return new Promise(() => {});
  });
  await queue.enqueueMany(payloads(0, jobs).map((data) => ({ name: 'mail' as const, data })));
  await all.promise;
  process.send?.({ allActive: true });
}

function open(database: string, concurrency: number, handler: (n: number, attempt: number) => Promise<void>) {
  const work = pipeline('mail')
    .input<Payload>()
    .phase('send', (job, ctx) => handler(job.data.n, ctx.attempt))
    .options({ retry: { maxAttempts: 3, disposition: 'fatal' } });
  return new JobQueue({ database, pipelines: [work], concurrency });
}
