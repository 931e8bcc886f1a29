/** What listeners are told, and under which names. */
import type { JobEventName, JobRecord, TransitionRecord } from '../../actors/vocabulary.ts';

/** A committed transition, with the job exactly as it was committed. */
export interface JobTransitionEvent<Job = JobRecord> {
  readonly type: JobEventName;
  readonly at: number;
  readonly job: Job;
  readonly transition: TransitionRecord;
}

/** News from inside a running phase: committed, but no history. */
export interface JobProgressEvent<Job = JobRecord> {
  readonly type: 'job:progress';
  readonly at: number;
  readonly job: Job;
  readonly phase: string;
  /** Progress of the phase; the job's own is `job.progress`. */
  readonly phaseProgress: number;
  readonly message: string | null;
}

/** The job's row is gone; `job` is what it said last. */
export interface JobDeletedEvent<Job = JobRecord> extends JobTransitionEvent<Job> {
  readonly deletedJobId: string;
}

/** A webhook reached its receiver, or was given up. `job` is the record as it is now; if it is gone, what the webhook said of it. */
export interface JobWebhookEvent<Job = JobRecord> {
  readonly type: 'job:webhook:delivered' | 'job:webhook:failed';
  readonly at: number;
  readonly job: Job;
  readonly url: string;
  /** The `webhook-id`. */
  readonly deliveryId: string;
  /** The event the webhook told of. */
  readonly event: JobEventName;
  /** Attempts made, the last one included. */
  readonly attempts: number;
  /** Why it was given up. */
  readonly error: string | null;
}

/** Something of the user's threw (a listener, a retention hook), or the store failed in the background. */
export interface ErrorEvent {
  readonly type: 'error';
  readonly error: unknown;
  /** What was going on. */
  readonly during: string;
}

/** Every event of a queue, by name. */
export interface QueueEvents<Job = JobRecord> {
  'job:enqueued': JobTransitionEvent<Job>;
  'job:started': JobTransitionEvent<Job>;
  'job:progress': JobProgressEvent<Job>;
  'job:phase:completed': JobTransitionEvent<Job>;
  'job:completed': JobTransitionEvent<Job>;
  'job:failed': JobTransitionEvent<Job>;
  'job:retrying': JobTransitionEvent<Job>;
  'job:cancelled': JobTransitionEvent<Job>;
  'job:paused': JobTransitionEvent<Job>;
  'job:resumed': JobTransitionEvent<Job>;
  'job:released': JobTransitionEvent<Job>;
  'job:unblocked': JobTransitionEvent<Job>;
  'job:stale': JobTransitionEvent<Job>;
  'job:deleted': JobDeletedEvent<Job>;
  'job:webhook:delivered': JobWebhookEvent<Job>;
  'job:webhook:failed': JobWebhookEvent<Job>;
  error: ErrorEvent;
}
