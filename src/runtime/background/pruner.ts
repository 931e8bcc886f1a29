/** Retention in two stages, in batches, and the pruning of the log. Decides when; the supervisor and the store do it. */
import type { Clock } from '../clock.ts';
import type { RetentionHooks } from '../journal/teller.ts';
import type { Store } from '../store/port.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { unlessMoved } from './expirer.ts';

/** What is kept and for how long; whatever is left out is kept for ever. */
export interface RetentionOptions extends RetentionHooks {
  /** Completed, failed and cancelled jobs become stale this long after they finished. */
  readonly staleAfterMs?: number;
  /** Stale jobs are deleted this long after they became stale. */
  readonly deleteAfterMs?: number;
  /** Log entries older than this are pruned. */
  readonly logMaxAgeMs?: number;
  /** Only the newest this many log entries are kept. */
  readonly logMaxCount?: number;
  /** Pause between rounds. Default 60,000. */
  readonly intervalMs?: number;
  /** Jobs per commit. Default 500. */
  readonly batchSize?: number;
}

const LOG_BATCH = 5_000;

export async function prune(
  store: Store,
  supervisor: Supervisor,
  clock: Clock,
  { staleAfterMs, deleteAfterMs, logMaxAgeMs, logMaxCount, batchSize = 500 }: RetentionOptions,
  stopped: () => boolean,
): Promise<null> {
  const now = clock.now();
  if (staleAfterMs !== undefined) {
    await inBatches(
      batchSize,
      () => store.finishedBefore(now - staleAfterMs, batchSize),
      (id) => supervisor.tell(id, { type: 'markStale', at: now }),
      stopped,
    );
  }
  if (deleteAfterMs !== undefined) {
    await inBatches(
      batchSize,
      () => store.staleBefore(now - deleteAfterMs, batchSize),
      (id) => supervisor.tell(id, { type: 'delete', at: now }),
      stopped,
    );
  }
  if (logMaxAgeMs !== undefined || logMaxCount !== undefined) {
    const rule = {
      olderThan: logMaxAgeMs === undefined ? null : now - logMaxAgeMs,
      keep: logMaxCount ?? null,
    };
    while (!stopped() && (await store.pruneLog(rule, LOG_BATCH)) === LOG_BATCH) await breathe();
  }
  return null;
}

/** One commit per batch, with the event loop free in between. */
async function inBatches(
  size: number,
  find: () => Promise<readonly string[]>,
  move: (id: string) => Promise<unknown>,
  stopped: () => boolean,
): Promise<void> {
  while (!stopped()) {
    const ids = await find();
    await Promise.all(ids.map((id) => move(id).catch(unlessMoved)));
    if (ids.length < size) return;
    await breathe();
  }
}

function breathe(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
