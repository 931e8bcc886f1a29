/** Cancels jobs that were not started before their `expiresAt`. */
import type { Clock } from '../clock.ts';
import { ConflictError, NotFoundError } from '../errors.ts';
import type { Store } from '../store/port.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

const BATCH = 500;

/** Answers with when the next one expires. */
export async function cancelExpired(store: Store, supervisor: Supervisor, clock: Clock): Promise<number | null> {
  const now = clock.now();
  const { ids, nextAt } = await store.expired(now, BATCH);
  await Promise.all(
    // Fence 0: whoever has been claimed since was started in time.
    ids.map((id) => supervisor.tell(id, { type: 'cancel', at: now, reason: 'expired' }, 0).catch(unlessMoved)),
  );
  return ids.length === BATCH ? now : nextAt;
}

/** A job that was started, ended or deleted meanwhile needs nothing more from a background loop. */
export function unlessMoved(error: unknown): undefined {
  if (error instanceof ConflictError || error instanceof NotFoundError) return undefined;
  throw error;
}
