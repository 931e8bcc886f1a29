/** The end of a queue: stop claiming, wait, ask handlers to stop, wait again, give back what is left, close. Always ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { JobEvent } from '../actors/job-events.ts';
import { type Clock, LONGEST_TIMER_MS } from './clock.ts';
import type { OnShutdown } from './config.ts';
import { ConflictError, NotFoundError, ShutdownTimeoutError } from './errors.ts';
import { requireCount, requireOptions } from './options.ts';
import type { Claim } from './supervisor/capacity.ts';
import type { Performer } from './supervisor/performer.ts';
import type { Supervisor } from './supervisor/supervisor.ts';

/** Options of `queue.shutdown(…)`. */
export interface ShutdownOptions {
  /** How long running jobs may go on. Default 30,000. */
  readonly timeoutMs?: number;
  /** How long handlers have to return after they were asked to stop. Default 5,000. */
  readonly graceMs?: number;
}

/** Checks the options before anything is stopped. */
export function requireShutdown(options: ShutdownOptions): void {
  requireOptions(options, 'options', ['timeoutMs', 'graceMs']);
  requireCount(options.timeoutMs, 'options.timeoutMs', 0);
  requireCount(options.graceMs, 'options.graceMs', 0);
}

/** A thread in a tight loop is gone within milliseconds; one in native code only when that returns. */
const KILL_PATIENCE_MS = 500;

interface Parts {
  readonly supervisor: Supervisor;
  readonly performer: Performer;
  readonly clock: Clock;
  readonly onShutdown: OnShutdown;
}

/** Brings running jobs to rest. Answers with the error to throw once everything is cleaned up, or `null`. */
export async function bringToRest(
  { supervisor, performer, clock, onShutdown }: Parts,
  { timeoutMs = 30_000, graceMs = 5_000 }: ShutdownOptions,
): Promise<ShutdownTimeoutError | null> {
  const rest = (isLate: () => boolean) => atRest(supervisor, performer, isLate);
  await supervisor.settled();
  if (await endedWithin(rest, timeoutMs)) return null;
  const late = supervisor.liveClaims();
  performer.stopAll(toEvent(onShutdown));
  // Threads can be ended, so that no job is given back while its handler still runs; inline handlers cannot.
  if (!(await endedWithin(rest, graceMs)) && performer.killAll() > 0) {
    await endedWithin(rest, KILL_PATIENCE_MS);
  }
  await Promise.all(
    supervisor.liveClaims().map((claim) => giveBack(supervisor, claim, toEvent(onShutdown)(clock.now()))),
  );
  // A handler whose job was taken from it long ago is nobody's news.
  const ids = late.map(({ id }) => id);
  return ids.length === 0 ? null : new ShutdownTimeoutError(timeoutMs, ids);
}

function toEvent(onShutdown: OnShutdown): (at: number) => JobEvent {
  const reason = 'The queue was shut down.';
  if (onShutdown === 'pause') return (at) => ({ type: 'pause', at, reason });
  if (onShutdown === 'cancel') return (at) => ({ type: 'cancel', at, reason });
  return (at) => ({ type: 'released', at });
}

/** Handlers that ignore their signal cannot keep the job: it moves on without them. */
async function giveBack(supervisor: Supervisor, claim: Claim, event: JobEvent): Promise<void> {
  try {
    await supervisor.tell(claim.id, event, claim.fence);
  } catch (error) {
    // A store that cannot be written to leaves the job to the lease; one that moved needs nothing.
    if (!(error instanceof ConflictError || error instanceof NotFoundError)) return;
  }
}

/** A job between two phases has no handler for a moment, so both are asked until neither has anything. */
async function atRest(supervisor: Supervisor, performer: Performer, isLate: () => boolean): Promise<void> {
  while (!isLate() && (performer.running > 0 || supervisor.liveClaims().length > 0)) {
    await performer.idle();
    await supervisor.settled();
    // An outcome may be waiting for a store that cannot be written to just now.
    await sleep(supervisor.liveClaims().length > 0 ? 5 : 0);
  }
}

/** The timer is deliberately not unref'ed: a process that awaits shutdown must live to see it. */
async function endedWithin(work: (isLate: () => boolean) => Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  let isLate = false;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(
      () => {
        isLate = true;
        resolve(false);
      },
      Math.min(ms, LONGEST_TIMER_MS),
    );
  });
  try {
    return await Promise.race([work(() => isLate).then(() => true as const), late]);
  } finally {
    clearTimeout(timer);
  }
}
