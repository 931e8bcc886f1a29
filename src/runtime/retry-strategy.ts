/** What to do about a failed attempt: is it worth another one, and when. Usable alone. */
import { type Backoff, backoffMs } from '../actors/backoff.ts';
import { showThrown } from '../actors/failure.ts';
import type { Disposition, FailureOutcome, JobRecord } from '../actors/vocabulary.ts';

/** A pipeline's retry options. */
export interface RetryOptions {
  /** Attempts in all, the first one included. Default 3. */
  readonly maxAttempts?: number;
  /** How long to wait between attempts. Default: exponential from 1,000 ms. */
  readonly backoff?: Backoff;
  /** Decides for errors that do not say it themselves; `error.outcome` is how the attempt ended. `undefined` leaves it to `disposition`. */
  readonly classify?: (
    error: Error & { code?: string; outcome?: FailureOutcome },
    job: JobRecord,
  ) => Disposition | undefined;
  /** For errors nobody has decided on. Default `fatal`. */
  readonly disposition?: Disposition;
}

/** The answer for one failure. */
export interface RetryDecision {
  readonly disposition: Disposition;
  /** Wait before the next attempt, if there is one. */
  readonly delayMs: number;
}

export const DEFAULT_MAX_ATTEMPTS = 3;
/** A hundred years: long enough for anybody, short enough for a Date. */
const LONGEST_WAIT_MS = 100 * 365 * 24 * 3_600_000;
const DEFAULT_BACKOFF: Backoff = { type: 'exponential', baseMs: 1_000 };

/** Decides in this order: what the error says of itself, `classify`, the caller's default, `disposition`. */
export class RetryStrategy {
  readonly maxAttempts: number;
  readonly #options: RetryOptions;

  constructor(options: RetryOptions = {}) {
    this.#options = options;
    this.maxAttempts = options.maxAttempts ?? DEFAULT_MAX_ATTEMPTS;
  }

  /**
   * @param fallback for outcomes that have a default of their own, such as a timeout
   * @param random a number in [0, 1), for jitter
   */
  decide(thrown: unknown, job: JobRecord, fallback?: Disposition, random = Math.random()): RetryDecision {
    const wish = wishOf(thrown);
    const disposition =
      wish.disposition ?? this.#classify(thrown, job) ?? fallback ?? this.#options.disposition ?? 'fatal';
    const delayMs = wish.delayMs ?? backoffMs(this.#options.backoff ?? DEFAULT_BACKOFF, job.attempt, random);
    return { disposition, delayMs };
  }

  #classify(thrown: unknown, job: JobRecord): Disposition | undefined {
    const answer = this.#options.classify?.(thrown instanceof Error ? thrown : new Error(showThrown(thrown)), job);
    if (answer === undefined || answer === 'recoverable' || answer === 'fatal') return answer;
    const what = (answer as unknown) instanceof Promise ? 'a promise (it must not be async)' : showThrown(answer);
    throw new TypeError(`it must answer 'recoverable', 'fatal' or undefined, but answered ${what}`);
  }
}

/** What the error says of itself, if that makes sense. */
function wishOf(thrown: unknown): Partial<RetryDecision> {
  try {
    const { disposition, retryAfterMs } = Object(thrown) as Record<string, unknown>;
    return {
      ...(disposition === 'recoverable' || disposition === 'fatal' ? { disposition } : {}),
      ...(typeof retryAfterMs === 'number' && retryAfterMs >= 0
        ? { delayMs: Math.min(Math.ceil(retryAfterMs), LONGEST_WAIT_MS) }
        : {}),
    };
  } catch {
    // A revoked proxy, say: it has nothing to tell.
    return {};
  }
}
