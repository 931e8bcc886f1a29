/** Checks what `createEventStream` is given. */
import { InvalidInputError } from '../errors.ts';
import { requireBoolean, requireOptions, requireWait, show } from '../options.ts';
import { type EventFilter, StreamFilter } from './stream-filter.ts';

/** Options of `queue.createEventStream(…)`. */
export interface EventStreamOptions {
  /** Begin with the jobs there are. Default `false`. Not sent to a client that resumes: it has one already. */
  readonly snapshot?: boolean;
  /**
   * Where the client was: the last `id` it received, as Node has it in `request.headers['last-event-id']`. Left out, `null` or
   * empty: it begins now. Sent more than once, it is no position, and the stream is reset.
   */
  readonly lastEventId?: string | number | readonly string[] | null | undefined;
  /** What to tell. Default: everything. */
  readonly filter?: EventFilter;
  /** Pause between signs of life. Default 15,000. */
  readonly pingMs?: number;
  /** Ends the stream when it aborts. */
  readonly signal?: AbortSignal;
}

/** Options with every default filled in. */
export interface StreamSettings {
  readonly snapshot: boolean;
  readonly lastEventId: string | null;
  readonly filter: StreamFilter;
  readonly pingMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Checks the options before a stream is opened. An id that is no position is not a mistake of the caller: it resets the stream. */
export function requireStreamOptions(options: EventStreamOptions): StreamSettings {
  requireOptions(options, 'options', ['snapshot', 'lastEventId', 'filter', 'pingMs', 'signal']);
  const { snapshot = false, lastEventId = null, filter = {}, pingMs = 15_000, signal } = options;
  requireBoolean(snapshot, 'options.snapshot');
  if (lastEventId !== null && !['string', 'number'].includes(typeof lastEventId) && !isTexts(lastEventId)) {
    throw new InvalidInputError('options.lastEventId', `is ${show(lastEventId)}, but must be the id of an event.`);
  }
  requireWait(pingMs, 'options.pingMs', 1);
  if (signal !== undefined && !(signal instanceof AbortSignal)) {
    throw new InvalidInputError('options.signal', `is ${show(signal)}, but must be an AbortSignal.`);
  }
  return {
    snapshot,
    lastEventId: lastEventId === '' || lastEventId === null ? null : String(lastEventId),
    filter: new StreamFilter(filter, 'options.filter'),
    pingMs,
    signal,
  };
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}
