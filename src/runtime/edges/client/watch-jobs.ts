/**
 * The other end of an event stream, for Node and browsers: `import { watchJobs } from 'millrace/client'`. Connects, reads, and
 * connects again where it was. No file it can import knows of Node or of the database.
 */
import type { JobRecord } from '../../../actors/vocabulary.ts';
import { StreamRefusedError } from '../../errors.ts';
import type { StreamEvent } from '../../journal/stream-events.ts';
import { bodyOf, request } from './connect.ts';
import { Pause } from './pause.ts';
import { readEvents, type WatchState } from './read-events.ts';
import { requireSource, requireWatchOptions, type WatchOptions, type WatchSettings } from './watch-options.ts';

export type { JobEventName, JobRecord, JobStatus, TransitionRecord } from '../../../actors/vocabulary.ts';
export { InvalidInputError, MillraceError, StreamRefusedError } from '../../errors.ts';
export type {
  JobDeletedEvent,
  JobProgressEvent,
  JobTransitionEvent,
  JobWebhookEvent,
} from '../../journal/events.ts';
export type { ResetEvent, SnapshotEvent, StreamEvent } from '../../journal/stream-events.ts';
export type { WatchOptions } from './watch-options.ts';

/** An event of the stream; narrow it by `type`. `lastEventId` is where to resume once it is dealt with; empty before the first id. */
export type WatchEvent<Job = JobRecord> = StreamEvent<Job> & { readonly lastEventId: string };

/** The events of a stream, for one `for await`. */
export interface JobWatch<Job = JobRecord> extends AsyncIterable<WatchEvent<Job>> {
  /** Where the watch stands: a later `watchJobs` goes on from there. Moves with pings too, which are not shown. */
  readonly lastEventId: string;
}

/**
 * Watches the jobs of a queue. A URL is asked again whenever the connection ends, is lost or falls silent, and when the server
 * answers 5xx; it resumes without gap or duplicate. 204 ends the watch; any other answer is a {@link StreamRefusedError}.
 * A `Response` or a stream is read once, to its end. Aborting `signal`, or leaving the loop, ends it all.
 */
export function watchJobs<Job = JobRecord>(
  source: string | URL | Response | ReadableStream<Uint8Array>,
  options: WatchOptions = {},
): JobWatch<Job> {
  const settings = requireWatchOptions(options);
  const given = requireSource(source);
  const state: WatchState = { lastEventId: settings.lastEventId };
  const events = typeof given === 'string' ? watchUrl(given, settings, state) : watchOnce(given, settings, state);
  return {
    get lastEventId() {
      return state.lastEventId;
    },
    [Symbol.asyncIterator]: () => events as AsyncGenerator<WatchEvent<Job>>,
  };
}

async function* watchUrl(url: string, settings: WatchSettings, state: WatchState): AsyncGenerator<WatchEvent> {
  const { signal, silenceMs } = settings;
  const pause = new Pause(settings);
  while (!signal?.aborted) {
    try {
      const body = await request(url, settings, state.lastEventId);
      if (!body) return;
      yield* readEvents(body, { state, signal, silenceMs, onMessage: pause.reset, onRetry: pause.serverSays });
    } catch (error) {
      // Everything else is a connection that was lost or never came about.
      if (error instanceof StreamRefusedError) throw error;
    }
    await pause.wait(signal);
  }
}

async function* watchOnce(
  given: Response | ReadableStream<Uint8Array>,
  { signal, silenceMs }: WatchSettings,
  state: WatchState,
): AsyncGenerator<WatchEvent> {
  const body = 'getReader' in given ? given : await bodyOf(given);
  if (body) yield* readEvents(body, { state, signal, silenceMs });
}
