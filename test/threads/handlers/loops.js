/** Tight loops, each with its own way of hearing that it must stop, or with none. They say how they ended in their job's log. */
import { setTimeout as sleep } from 'node:timers/promises';

const endless = Number.POSITIVE_INFINITY;

export function byCheckpoint(_job, ctx) {
  ctx.progress(1);
  for (let i = 0; i < endless; i++) ctx.checkpoint();
}

export function byAborted(_job, ctx) {
  ctx.progress(1);
  for (let i = 0; i < endless; i++) if (ctx.signal.aborted) throw ctx.signal.reason;
}

export function byThrowIfAborted(_job, ctx) {
  ctx.progress(1);
  for (let i = 0; i < endless; i++) ctx.signal.throwIfAborted();
}

export async function byListening(_job, ctx) {
  ctx.progress(1);
  await sleep(3_600_000, undefined, { signal: ctx.signal });
}

export function byForce(_job, ctx) {
  ctx.progress(1);
  for (;;);
}

/** Returns a result although it was asked to stop. */
export function stubborn(_job, ctx) {
  ctx.progress(1);
  while (!ctx.signal.aborted);
  return 'finished all the same';
}
