/** Bytes of a stream, as typed events. Reads only as fast as somebody listens. */
import { createParser, type EventSourceMessage } from 'eventsource-parser';
import { JOB_EVENT_NAMES } from '../../../actors/vocabulary.ts';
import { StreamRefusedError } from '../../errors.ts';
import type { StreamEvent } from '../../journal/stream-events.ts';

/** What a watch remembers from one connection to the next. */
export interface WatchState {
  lastEventId: string;
}

export interface ReadOptions {
  readonly state: WatchState;
  readonly signal: AbortSignal | undefined;
  readonly silenceMs: number;
  /** Told of every message, pings included. */
  onMessage?(): void;
  onRetry?(ms: number): void;
}

/** Pings are not shown, and names of a newer server's are left to newer clients. */
const SHOWN: ReadonlySet<string> = new Set<string>([...JOB_EVENT_NAMES, 'snapshot', 'reset']);

/** Ends with the body, when the signal aborts, and when nothing has arrived for `silenceMs`. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { state, signal, silenceMs, onMessage, onRetry }: ReadOptions,
): AsyncGenerator<StreamEvent & { readonly lastEventId: string }> {
  const messages: EventSourceMessage[] = [];
  const parser = createParser({ onEvent: (message) => messages.push(message), onRetry });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  // A cancelled reader's read ends like that of a finished stream.
  const stop = () => void reader.cancel().catch(() => {});
  signal?.addEventListener('abort', stop);
  try {
    while (!signal?.aborted) {
      const silence = setTimeout(stop, silenceMs);
      const { done, value } = await reader.read().finally(() => clearTimeout(silence));
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      for (const { event = 'message', id, data } of messages.splice(0)) {
        if (signal?.aborted) return;
        onMessage?.();
        // Moved on before the event is shown: whoever leaves the loop here has seen it.
        state.lastEventId = id ?? state.lastEventId;
        if (SHOWN.has(event)) yield { ...parse(event, data), lastEventId: state.lastEventId };
      }
    }
  } finally {
    signal?.removeEventListener('abort', stop);
    stop();
  }
}

function parse(event: string, data: string): StreamEvent {
  try {
    return JSON.parse(data) as StreamEvent;
  } catch (error) {
    throw new StreamRefusedError(200, `the data of a "${event}" event is not JSON.`, { cause: error });
  }
}
