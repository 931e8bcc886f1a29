/**
 * Everything that can happen to a job, as one union. Time, ids and chance arrive inside events:
 * `at` is always the moment the event is about, in milliseconds since the epoch.
 */
import type { Disposition, Failure, PhaseUsage } from './vocabulary.ts';

interface Base {
  readonly at: number;
}

/** A runtime takes the job: a lease, a new fence, one more attempt. */
export interface Claimed extends Base {
  readonly type: 'claimed';
  readonly owner: string;
  readonly leaseExpiresAt: number;
}

/** The current phase had to wait for a lane and has begun only now. State, not history: no log entry. */
export interface PhaseStarted extends Base {
  readonly type: 'phaseStarted';
  /** It is the first phase of its attempt, which so begins only now, too. */
  readonly beginsAttempt: boolean;
}

/** News from inside the current phase. State, not history: no log entry. */
export interface Progressed extends Base {
  readonly type: 'progressed';
  readonly progress: number;
  readonly message: string | null;
}

/** The current phase is done. `result` is undefined when the handler returned nothing. */
export interface PhaseCompleted extends Base {
  readonly type: 'phaseCompleted';
  /** Binary values are references; their bytes travel beside the event, straight to the store. */
  readonly result: unknown;
  readonly blobs?: number;
  readonly usage?: PhaseUsage | null;
  /** When the phase really began, if it had to wait for a lane and `phaseStarted` has not said so. */
  readonly startedAt?: number | undefined;
}

/** The current phase failed; `retryAt` is when the next attempt may begin, if there is one. */
export interface PhaseFailed extends Base {
  readonly type: 'phaseFailed';
  readonly failure: Failure;
  readonly disposition: Disposition;
  readonly retryAt: number;
  readonly usage?: PhaseUsage | null;
  /** See {@link PhaseCompleted}. */
  readonly startedAt?: number | undefined;
}

/** The holder is gone (process died, lease expired). Counts as an attempt. */
export interface Interrupted extends Base {
  readonly type: 'interrupted';
  readonly failure: Failure;
  readonly retryAt: number;
}

/** The holder gives the job back in good order. Does not count as an attempt. */
export interface Released extends Base {
  readonly type: 'released';
}

/** All blockers are closed. */
export interface BlockersClosed extends Base {
  readonly type: 'blockersClosed';
}

/** The job is given up without running: its phases are gone, or a blocker failed. */
export interface Abandoned extends Base {
  readonly type: 'abandoned';
  readonly failure: Failure;
}

/** Somebody asks to stop the job for good. */
export interface Cancel extends Base {
  readonly type: 'cancel';
  readonly reason: string | null;
}

/** Somebody asks to put the job aside. */
export interface Pause extends Base {
  readonly type: 'pause';
  readonly reason: string | null;
}

/** Somebody asks to let a paused job go on. */
export interface Resume extends Base {
  readonly type: 'resume';
}

/** Somebody brings the job's result from outside. */
export interface Complete extends Base {
  readonly type: 'complete';
  readonly result: unknown;
}

/** Somebody asks to run the unfinished phases again. */
export interface Retry extends Base {
  readonly type: 'retry';
}

/** Retention, first stage. */
export interface MarkStale extends Base {
  readonly type: 'markStale';
}

/** Retention, second stage. */
export interface Delete extends Base {
  readonly type: 'delete';
}

/** A webhook of the job has reached its receiver. State, not history: no log entry. */
export interface WebhookDelivered extends Base {
  readonly type: 'webhookDelivered';
}

/** Everything that can happen to a job after its birth. */
export type JobEvent =
  | Claimed
  | PhaseStarted
  | Progressed
  | PhaseCompleted
  | PhaseFailed
  | Interrupted
  | Released
  | BlockersClosed
  | Abandoned
  | Cancel
  | Pause
  | Resume
  | Complete
  | Retry
  | MarkStale
  | Delete
  | WebhookDelivered;

/** The member of the union with this `type`. */
export type JobEventOf<T extends JobEvent['type']> = Extract<JobEvent, { type: T }>;

/** What a person may do to a job; `allowedEvents` answers with these. */
export const JOB_ACTIONS = ['cancel', 'pause', 'resume', 'retry', 'complete'] as const;

/** See {@link JOB_ACTIONS}. */
export type JobAction = (typeof JOB_ACTIONS)[number];

/** These change the row but are no history: no transition number, no log entry. */
export function isQuiet(type: JobEvent['type']): boolean {
  return type === 'progressed' || type === 'phaseStarted' || type === 'webhookDelivered';
}
