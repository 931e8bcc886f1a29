/** From the request to the standstill: of a loop that asks, and of one that does not listen. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseOf } from '../contenders/millrace.ts';
import { handler, openThreaded, threadPipeline } from '../contenders/threads.ts';
import { mustBe } from '../harness/ledger.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { quantile } from '../harness/statistics.ts';
import { sharedClock } from '../harness/timing.ts';

const GRACE_MS = 50;

export const cancel: Scenario = {
  name: 'cancel',
  title: 'from queue.cancel() until a running CPU loop has stopped',
  mode: 'file, WAL, synchronous NORMAL',
  jobs: 300,
  quickJobs: 10,
  measures: [
    'polling: a tight loop calling ctx.checkpoint(). From the call of cancel, its commit included, to the moment the handler catches the stop, on a clock shared by all threads.',
    `forced: a loop that ignores everything; graceMs is ${GRACE_MS}. From the end of the grace period until the queue counts no running handler, that is until the thread is gone; a tenth of the jobs.`,
  ],
  entries: () => [
    { contender: 'millrace', variant: 'polling', run: polling },
    { contender: 'millrace', variant: 'forced', run: forced },
  ],
};

async function polling(trial: Trial): Promise<Numbers> {
  const diary = join(trial.folder, 'diary');
  const requests = await cancelEach(trial, 'poll', trial.jobs, diary);
  const stops = new Map(
    readFileSync(diary, 'utf8')
      .trim()
      .split('\n')
      .map((line) => line.split(' '))
      .map(([n, at]) => [Number(n), Number(at) / 1e6]),
  );
  mustBe('handlers that noted their stop', stops.size, trial.jobs);
  const times = requests.map(({ asked }, n) => (stops.get(n) ?? Number.NaN) - asked);
  return { pollingP50Ms: quantile(times, 0.5), pollingP99Ms: quantile(times, 0.99) };
}

async function forced(trial: Trial): Promise<Numbers> {
  const requests = await cancelEach(trial, 'ignore', Math.ceil(trial.jobs / 10), join(trial.folder, 'diary'));
  const times = requests.map(({ asked, gone }) => gone - asked - GRACE_MS);
  return { forcedP50Ms: quantile(times, 0.5), forcedP99Ms: quantile(times, 0.99) };
}

/** Runs and cancels one job after the other; answers with when each was asked to stop and when its thread was free of it. */
async function cancelEach(trial: Trial, file: string, jobs: number, diary: string) {
  const work = threadPipeline('work', { worker: handler(file), graceMs: GRACE_MS });
  const queue = openThreaded({ database: databaseOf(trial), pipelines: [work] });
  const times: { asked: number; gone: number }[] = [];
  for (let n = 0; n < jobs; n++) {
    const running = new Promise<void>((resolve) => queue.once('job:progress', () => resolve()));
    const id = await queue.enqueue('work', { n, diary });
    await running;
    await sleep(1 + (n % 5));
    const asked = sharedClock();
    await queue.cancel(id);
    while ((await queue.stats()).running > 0) await new Promise(setImmediate);
    times.push({ asked, gone: sharedClock() });
    mustBe('cancelled jobs', (await queue.stats()).jobs.cancelled ?? 0, n + 1);
  }
  await queue.shutdown();
  if (file === 'poll' && !existsSync(diary)) throw new Error('No handler noted its stop.');
  return times;
}
