/** What goes over an event stream. Types only: the browser's side of the wire reads them too. */
import type { JobEventName, JobRecord } from '../../actors/vocabulary.ts';
import type { JobDeletedEvent, JobProgressEvent, JobTransitionEvent, JobWebhookEvent } from './events.ts';

/** A part of the jobs there are. Parts are sent until one says `done`; that one carries the stream's first `id`. */
export interface SnapshotEvent<Job = JobRecord> {
  readonly type: 'snapshot';
  /** Every job is told as of this position or later; what was committed after it follows as events. */
  readonly position: number;
  /** 0 begins a snapshot: what an earlier one told, complete or not, is out of date. */
  readonly part: number;
  readonly done: boolean;
  readonly jobs: readonly Job[];
}

/** The stream cannot go on from where the client was: forget what is known, a fresh snapshot follows. */
export interface ResetEvent {
  readonly type: 'reset';
  /** `pruned`: the log no longer reaches back that far. `unknown`: it never had such a position. */
  readonly reason: 'pruned' | 'unknown';
}

/** A sign of life. */
export interface PingEvent {
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
}

/** Replayed from the log, an event has the record as it is now, or `null` if the job is gone. */
type Replayable<Event extends { readonly job: unknown }> = Omit<Event, 'job'> & { readonly job: Event['job'] | null };

/** Names whose events are told live only: they are no entries of the log. */
type Unlogged = 'job:progress' | 'job:webhook:delivered' | 'job:webhook:failed';

/** Everything but pings that a stream tells, by `type`. */
export type StreamEvent<Job = JobRecord> =
  | SnapshotEvent<Job>
  | ResetEvent
  | JobProgressEvent<Job>
  | (Omit<JobWebhookEvent<Job>, 'type'> & { readonly type: 'job:webhook:delivered' | 'job:webhook:failed' })
  | (Replayable<Omit<JobDeletedEvent<Job>, 'type'>> & { readonly type: 'job:deleted' })
  | (Replayable<Omit<JobTransitionEvent<Job>, 'type'>> & {
      readonly type: Exclude<JobEventName, Unlogged | 'job:deleted'>;
    });
