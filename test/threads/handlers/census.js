/** Does a little of everything a phase can do, and counts what its thread holds. */
import { memoryUsage } from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { threadId } from 'node:worker_threads';

/** Reports, listens, logs now and then, and leaves nothing behind. */
export default (job, ctx) => {
  ctx.checkpoint();
  ctx.progress(50, 'half way');
  ctx.signal.addEventListener('abort', () => {});
  if (job.data.n % 100 === 0) console.log(`job ${job.data.n}`);
  return { bytes: new Uint8Array(1_000), n: job.data.n };
};

/** What is open on this thread, after the rubbish was collected. Stays a while, so that several of these are on as many threads. */
export const count = async () => {
  await sleep(150);
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = memoryUsage();
  return { threadId, resources: heldResources(), heapUsed, external, arrayBuffers };
};

/** Handles, not requests: of those, one may always be under way. */
const heldResources = () =>
  process
    .getActiveResourcesInfo()
    .filter((name) => !name.endsWith('Req'))
    .sort();
