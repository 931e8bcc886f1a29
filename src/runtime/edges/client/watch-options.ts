/** Checks what `watchJobs` is given. */
import { InvalidInputError } from '../../errors.ts';
import { requireFunction, requireOptions, requireText, requireTimer, show } from '../../options.ts';

/** Options of `watchJobs(…)`. */
export interface WatchOptions {
  /** Where to begin: what an earlier watch had as its `lastEventId`. Default: wherever the server begins. */
  readonly lastEventId?: string | null;
  /** Ends the watch when it aborts. */
  readonly signal?: AbortSignal;
  /** Asks the server. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch;
  /** Sent with every request, for example `authorization`. */
  readonly headers?: ConstructorParameters<typeof Headers>[0];
  /** Shortest wait before connecting again, whatever the server says. Default 1,000. */
  readonly minRetryMs?: number;
  /** Longest wait: it doubles with every try that brings nothing. Default 30,000. */
  readonly maxRetryMs?: number;
  /** A connection on which nothing, not even a ping, arrives for this long is taken for dead. Default 60,000. */
  readonly silenceMs?: number;
}

/** Options with every default filled in. */
export interface WatchSettings {
  readonly lastEventId: string;
  readonly signal: AbortSignal | undefined;
  readonly fetch: typeof globalThis.fetch;
  readonly headers: ConstructorParameters<typeof Headers>[0];
  readonly minRetryMs: number;
  readonly maxRetryMs: number;
  readonly silenceMs: number;
}

/** Checks the options before anything is asked for. */
export function requireWatchOptions(options: WatchOptions): WatchSettings {
  const known = ['lastEventId', 'signal', 'fetch', 'headers', 'minRetryMs', 'maxRetryMs', 'silenceMs'];
  requireOptions(options, 'options', known);
  const { minRetryMs = 1_000, maxRetryMs = 30_000, silenceMs = 60_000, signal, headers } = options;
  requireText(options.lastEventId, 'options.lastEventId');
  requireFunction(options.fetch, 'options.fetch');
  requireTimer(minRetryMs, 'options.minRetryMs', 0);
  requireTimer(maxRetryMs, 'options.maxRetryMs', 0);
  requireTimer(silenceMs, 'options.silenceMs', 1);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidInputError('options.signal', `is ${show(signal)}, but must be an AbortSignal.`);
  }
  return {
    lastEventId: options.lastEventId ?? '',
    signal,
    // Called through the global object: browsers refuse a fetch that has lost its window.
    fetch: options.fetch ?? ((...args) => globalThis.fetch(...args)),
    headers,
    minRetryMs,
    maxRetryMs,
    silenceMs,
  };
}

/** A URL as text, or what it was if it can be read as it is. */
export function requireSource(source: unknown): string | Response | ReadableStream<Uint8Array> {
  if (typeof source === 'string' || source instanceof URL) return absolute(String(source));
  // By their looks: a fetch of another make has a Response of its own.
  const looks = Object(source) as object;
  if ('getReader' in looks || ('status' in looks && 'headers' in looks)) return source as Response;
  throw new InvalidInputError('source', `is ${show(source)}, but must be a URL, a Response or a ReadableStream.`);
}

function absolute(url: string): string {
  // A page may name its own server's paths; Node has no page.
  const { location } = globalThis as { readonly location?: { readonly href: string } };
  try {
    return new URL(url, location?.href).href;
  } catch (error) {
    throw new InvalidInputError('source', `${show(url)} is not a URL.`, { cause: error });
  }
}
