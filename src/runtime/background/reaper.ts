/** Finds jobs whose holder is gone and gives them back: at once if its process is known to be dead, else when the lease has expired. */
import type { JobEvent } from '../../actors/job-events.ts';
import type { Failure } from '../../actors/vocabulary.ts';
import type { Clock } from '../clock.ts';
import { isGone } from '../process-identity.ts';
import type { Store } from '../store/port.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { unlessMoved } from './expirer.ts';

/** Answers with when the next lease expires, so that nothing waits longer than it must. */
export async function reapOrphans(
  store: Store,
  supervisor: Supervisor,
  clock: Clock,
  runtimeId: string,
): Promise<number | null> {
  const held = await store.heldByOthers(runtimeId);
  const now = clock.now();
  const gone = await goneRuntimes(store, runtimeId);
  let nextExpiry: number | null = null;
  const orphans: Promise<unknown>[] = [];
  for (const job of held) {
    if (job.leaseExpiresAt <= now || gone.has(job.owner)) {
      orphans.push(supervisor.tell(job.id, interrupted(now), job.fence).catch(unlessMoved));
    } else nextExpiry = Math.min(nextExpiry ?? Number.POSITIVE_INFINITY, job.leaseExpiresAt + 1);
  }
  await Promise.all(orphans);
  // Only now: until their jobs are given back, the dead must be known by name.
  for (const id of gone) await store.unregister(id);
  return nextExpiry;
}

async function goneRuntimes(store: Store, runtimeId: string): Promise<ReadonlySet<string>> {
  const others = (await store.runtimes()).filter(({ id }) => id !== runtimeId);
  return new Set(others.filter(isGone).map(({ id }) => id));
}

/** To be tried again at once: whatever was wrong with the holder is no fault of the job, until its attempts run out. */
function interrupted(at: number): JobEvent {
  const failure: Failure = {
    name: 'InterruptedError',
    code: 'interrupted',
    outcome: 'interrupted',
    message: 'The process that ran this job ended, or lost its lease, before the phase did.',
  };
  return { type: 'interrupted', at, failure, retryAt: at };
}
