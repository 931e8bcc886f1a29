/** How long to wait before the next attempt. Pure: chance is an argument. */

/** `baseMs` each time, or growing with the attempt number, or doubling. */
export interface Backoff {
  readonly type: 'fixed' | 'linear' | 'exponential';
  readonly baseMs: number;
  /** Upper limit of one wait, before jitter takes its share. Default: one hour. */
  readonly maxMs?: number;
  /** Share of the wait, 0 to 1, that chance may take away, so that a crowd does not come back at once. Default 0. */
  readonly jitter?: number;
}

/** Used when a wait has no `maxMs` of its own. */
export const DEFAULT_MAX_BACKOFF_MS = 3_600_000;

/**
 * The wait after `attempt` (1 for the first) has failed.
 * @param random a number in [0, 1)
 */
export function backoffMs(backoff: Backoff, attempt: number, random: number): number {
  const { type, baseMs, maxMs = DEFAULT_MAX_BACKOFF_MS, jitter = 0 } = backoff;
  const factor = type === 'fixed' ? 1 : type === 'linear' ? attempt : 2 ** (attempt - 1);
  // Zero times the infinity that doubling ends in is not a number.
  const wait = baseMs === 0 ? 0 : Math.min(baseMs * factor, maxMs);
  return Math.round(wait * (1 - jitter * random));
}
