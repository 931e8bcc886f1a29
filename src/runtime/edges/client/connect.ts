/** Asks for the stream, and tells answers that are final from those that are worth another try. */
import { StreamRefusedError } from '../../errors.ts';
import type { WatchSettings } from './watch-options.ts';

/** How much of a refusal's text goes into the error message. */
const MOST_SHOWN = 200;

/** The body of the stream, or `null` if the server says that there is nothing more. Throws on a failed try; {@link StreamRefusedError} is final. */
export async function request(
  url: string,
  { fetch, headers, signal, silenceMs }: WatchSettings,
  lastEventId: string,
): Promise<ReadableStream<Uint8Array> | null> {
  const hangUp = new AbortController();
  const stop = () => hangUp.abort();
  // A server that takes the call and says nothing is as dead as one that falls silent later. The body is watched by its reader.
  const silence = setTimeout(stop, silenceMs);
  signal?.addEventListener('abort', stop);
  if (signal?.aborted) stop();
  try {
    return await answer(url, fetch, headers, hangUp.signal, lastEventId);
  } finally {
    clearTimeout(silence);
    signal?.removeEventListener('abort', stop);
  }
}

async function answer(
  url: string,
  fetch: WatchSettings['fetch'],
  headers: WatchSettings['headers'],
  signal: AbortSignal,
  lastEventId: string,
): Promise<ReadableStream<Uint8Array> | null> {
  const sent = new Headers(headers);
  sent.set('accept', 'text/event-stream');
  if (lastEventId !== '') sent.set('last-event-id', lastEventId);
  // Node's types know nothing of caches, browsers have them.
  const init = { headers: sent, cache: 'no-store', signal };
  const response = await fetch(url, init);
  if (response.status >= 500) {
    await response.body?.cancel();
    throw new Error(`HTTP ${response.status}`);
  }
  return bodyOf(response);
}

/** The body of a response that is an event stream; `null` for 204. */
export async function bodyOf(response: Response): Promise<ReadableStream<Uint8Array> | null> {
  const { status, body } = response;
  if (status === 204) return null;
  if (status !== 200) {
    throw new StreamRefusedError(status, (await beginningOf(body)) || 'no reason was given.');
  }
  const type = response.headers.get('content-type') ?? 'none';
  if (!body || !/^text\/event-stream\b/i.test(type)) {
    await body?.cancel();
    throw new StreamRefusedError(status, `the content type is ${type}, but must be text/event-stream.`);
  }
  return body;
}

/** As much of a refusal as is shown: what follows may have no end. */
async function beginningOf(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const reader = body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  try {
    while (reader && text.length < MOST_SHOWN) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value, { stream: true });
    }
  } catch {
    // What came until then has to do.
  }
  await reader?.cancel().catch(() => {});
  return text.slice(0, MOST_SHOWN);
}
