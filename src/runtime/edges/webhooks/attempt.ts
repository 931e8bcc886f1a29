/** What an answer, or the lack of one, means for a delivery: arrived, worth another attempt, or not. */
import type { Attempt } from '../../background/sender.ts';
import { PrivateAddressError } from '../../private-addresses.ts';
import type { Answer } from './post.ts';

/** A receiver may ask for patience, but not for more than this. */
const LONGEST_RETRY_AFTER_MS = 24 * 3_600_000;

/** Judges an answer: 2xx has arrived; 5xx, 408 and 429 may be tried again; everything else (a redirect, too) may not. */
export function judgeAnswer({ status, retryAfter }: Answer, now: number): Attempt {
  if (status >= 200 && status < 300) return { delivered: true, status };
  const final = !(status >= 500 || status === 408 || status === 429);
  const error = `The receiver answered ${status}${status >= 300 && status < 400 ? ', and redirects are not followed' : ''}.`;
  return { delivered: false, status, error, final, retryAfterMs: final ? null : retryAfterMs(retryAfter, now) };
}

/** Judges a fault on the way: worth another attempt, unless the address itself is refused. */
export function judgeFault(fault: unknown): Attempt {
  const { message, code } = Object(fault) as NodeJS.ErrnoException;
  return {
    delivered: false,
    status: null,
    // An AggregateError (several addresses, none of which answered) has a code but no message.
    error: message || code || 'The connection failed.',
    final: fault instanceof PrivateAddressError,
    retryAfterMs: null,
  };
}

/** Dates as HTTP has them begin with a day's name; `Date.parse` alone would take "1.5" for a day in January 2001. */
const HTTP_DATE = /^[A-Z][a-z]{2,8},? /;

/** `Retry-After` in seconds or as an HTTP date; `null` if there is none or it makes no sense. */
export function retryAfterMs(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  const wait = /^\d+$/.test(text) ? Number(text) * 1_000 : HTTP_DATE.test(text) ? Date.parse(text) - now : Number.NaN;
  return Number.isNaN(wait) ? null : Math.min(Math.max(wait, 0), LONGEST_RETRY_AFTER_MS);
}
