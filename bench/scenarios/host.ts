/** Does the process that embeds Millrace still answer? The delay of its event loop while all threads are busy and jobs flow. */
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { databaseOf, mail } from '../contenders/millrace.ts';
import { payload } from '../contenders/queue.ts';
import { handler, openThreaded, threadPipeline } from '../contenders/threads.ts';
import { stepsPerMs } from '../harness/calibration.ts';
import { mustBe } from '../harness/ledger.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';

const RESOLUTION_MS = 1;
const INLINE_PER_SECOND = 200;

export const host: Scenario = {
  name: 'host',
  title: 'event-loop delay of the embedding process while all threads are busy and jobs flow',
  mode: 'file, WAL, synchronous NORMAL',
  jobs: 1_000,
  quickJobs: 20,
  measures: [
    'perf_hooks.monitorEventLoopDelay, sampled every millisecond; reported is the delay beyond that millisecond.',
    'idle: the queue is open and has nothing to do, 3 s.',
    `loaded: two threads work off jobs of 10 ms without a pause, and ${INLINE_PER_SECOND} no-op jobs per second are enqueued and run inline besides.`,
  ],
  entries: () => [{ contender: 'millrace', run: measure }],
};

async function measure(trial: Trial): Promise<Numbers> {
  const steps = trial.quick ? 1_000 : stepsPerMs(trial) * 10;
  const pipelines = [threadPipeline('spin', { worker: handler('spin-millrace') }), mail()];
  const queue = openThreaded({ database: databaseOf(trial), pipelines });
  const spin = Array.from({ length: trial.jobs }, (_, n) => ({ name: 'spin', data: { n, steps } }));
  let [spun, mailed] = [0, 0];
  queue.on('job:completed', ({ job }) => (job.pipeline === 'spin' ? spun++ : mailed++));

  // Warm-up, and threads that are up.
  await queue.enqueueMany(spin.slice(0, 10));
  while (spun < 10) await sleep(5);
  const idle = await watch(() => sleep(trial.quick ? 50 : 3_000));
  await queue.enqueueMany(spin);
  let sent = 0;
  const loaded = await watch(async () => {
    for (; spun < trial.jobs + 10; sent++) {
      void queue.enqueue('mail', payload(sent));
      await sleep(1_000 / INLINE_PER_SECOND);
    }
  });
  while (mailed < sent) await sleep(5);
  mustBe('jobs done', (await queue.stats()).jobs.completed ?? 0, trial.jobs + 10 + sent);
  await queue.shutdown();
  return { idleP99Ms: idle.p99, idleMaxMs: idle.max, loadedP99Ms: loaded.p99, loadedMaxMs: loaded.max };
}

async function watch(work: () => Promise<unknown>): Promise<{ p99: number; max: number }> {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  await work();
  delay.disable();
  const beyond = (nanoseconds: number) => Math.max(0, nanoseconds / 1e6 - RESOLUTION_MS);
  return { p99: beyond(delay.percentile(99)), max: beyond(delay.max) };
}
