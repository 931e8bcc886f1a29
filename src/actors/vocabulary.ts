/**
 * The nouns every room shares: what a job, a phase, a failure and a transition are.
 * Types only. What may happen to a job is told by `job-machine.ts`.
 */

/** The top-level states of the statechart; `status` in a job record is one of these. */
export const JOB_STATUSES = [
  'blocked',
  'pending',
  'active',
  'retrying',
  'paused',
  'completed',
  'failed',
  'cancelled',
  'stale',
  'deleted',
] as const;

/** See {@link JOB_STATUSES}. */
export type JobStatus = (typeof JOB_STATUSES)[number];

/** Where one phase of a job stands. `skipped`: the job was completed from outside before the phase ran. */
export type PhaseStatus = 'pending' | 'active' | 'completed' | 'failed' | 'cancelled' | 'skipped';

/** What to do about a failure: try again while attempts are left, or give up at once. */
export type Disposition = 'recoverable' | 'fatal';

/** Why a running phase was told to stop; handlers find it in `ctx.signal.reason.code`. */
export const STOP_REASONS = [
  'cancelled',
  'paused',
  'timeout',
  'cpu_budget',
  'memory_budget',
  'shutdown',
  'already_completed',
  'abandoned',
  'taken_by_another_worker',
  'not_found',
] as const;

/** See {@link STOP_REASONS}. */
export type StopReason = (typeof STOP_REASONS)[number];

/**
 * How a failed attempt came to its end. `threw`: the handler did; `timeout`: it ran past `timeoutMs` or `cpuMs` and stopped when asked;
 * `unresponsive`: it did not, and its thread was ended; `out_of_memory`: it ran past `memoryMb`, or its thread's heap; `crashed`: its
 * thread died under it; `bad_result`: it returned what cannot be stored; `interrupted`: its process died or lost the job.
 */
export type FailureOutcome =
  | 'threw'
  | 'timeout'
  | 'unresponsive'
  | 'out_of_memory'
  | 'crashed'
  | 'bad_result'
  | 'interrupted';

/** An error as plain data: it can be stored, cross a thread boundary and come back unchanged. */
export interface Failure {
  readonly name: string;
  readonly message: string;
  readonly code?: string;
  readonly stack?: string;
  readonly cause?: Failure;
  /** The error's own JSON-like fields, beyond the ones above. */
  readonly data?: Readonly<Record<string, unknown>>;
  /** The phase that failed, when one did. */
  readonly phase?: string;
  /** How the attempt ended, when one did. */
  readonly outcome?: FailureOutcome;
}

/** What one attempt of a phase used, measured on its thread. What could not be measured is `null`. */
export interface PhaseUsage {
  readonly threadId: number;
  readonly wallMs: number;
  readonly cpuMs: number | null;
  /** Highest size of the thread's heap that was seen, in bytes. */
  readonly peakHeapBytes: number | null;
  /** The same for memory outside the heap: buffers, mostly. */
  readonly peakExternalBytes: number | null;
  /** Share of the time, 0 to 1, in which the thread's event loop was busy. */
  readonly utilization: number | null;
  /** Binary data handed to the thread and back, in bytes. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** Stands in a job record for a binary value of a result; `ctx.phaseResult`, `queue.result` and `queue.phaseResult` give the bytes. */
export interface BlobRef {
  readonly blob: 'Uint8Array' | 'ArrayBuffer' | 'SharedArrayBuffer';
  readonly bytes: number;
}

/** A result as a job record shows it: binary values are references. */
export type Stored<T> = T extends Uint8Array | ArrayBufferLike
  ? BlobRef
  : T extends object
    ? { [K in keyof T]: Stored<T[K]> }
    : T;

/** One line a handler wrote, with `ctx.log` or, on a thread, `console`. */
export interface LogLine {
  readonly at: number;
  readonly phase: string;
  readonly attempt: number;
  readonly level: 'debug' | 'info' | 'warn' | 'error';
  readonly text: string;
}

/** One phase of a job, as stored. Times are milliseconds since the epoch. */
export interface PhaseState {
  readonly name: string;
  readonly status: PhaseStatus;
  /** 0 to 100, as the handler last reported it; 100 once completed. */
  readonly progress: number;
  readonly message: string | null;
  readonly startedAt: number | null;
  readonly completedAt: number | null;
  /** Message of the phase's last failure. */
  readonly error: string | null;
  /** How many binary values the result holds; they are stored beside it. */
  readonly blobs: number;
  /** What the last attempt used, for phases that run on a thread. */
  readonly usage: PhaseUsage | null;
}

/**
 * A job as everybody sees it: `getJob`, `listJobs`, events and streams all show this shape.
 * Plain data; times are milliseconds since the epoch, `null` means "not (yet)".
 */
export interface JobRecord<Name extends string = string, Data = unknown, Results = Readonly<Record<string, unknown>>> {
  readonly id: string;
  readonly pipeline: Name;
  readonly status: JobStatus;
  /** The input given to `enqueue`, as stored. */
  readonly data: Data;
  /** Higher runs first. */
  readonly priority: number;
  /** Attempts begun since birth or the last manual retry; the first one counts. */
  readonly attempt: number;
  readonly maxAttempts: number;
  /** The phase that is running, or was last running; `null` before the first claim. */
  readonly currentPhase: string | null;
  readonly phases: readonly PhaseState[];
  /** How many phases are done with, and so the index of the next one. */
  readonly phaseIndex: number;
  /** Results of completed phases, by phase name. */
  readonly phaseResults: Partial<Stored<Results>>;
  /** Overall progress, 0 to 100. */
  readonly progress: number;
  readonly progressMessage: string | null;
  /** The last failure; cleared when the job completes or is retried by hand. */
  readonly error: Failure | null;
  /** Why the job was cancelled or paused, in the words of whoever asked. */
  readonly reason: string | null;
  /** Not claimed before this time: the delay given at birth, or the next retry. */
  readonly scheduledAt: number;
  /** If the job has not been started by then it is cancelled with reason `expired`. */
  readonly expiresAt: number | null;
  /** Limit for one attempt of the whole job, counted from the start of the attempt's first phase. */
  readonly timeoutMs: number | null;
  /** When the running phase is stopped, if it has a limit. */
  readonly timeoutAt: number | null;
  /** Where this job's webhooks go; `null`: to the queue's own address, if it has one. */
  readonly webhookUrl: string | null;
  /** Has a webhook of this job reached its receiver? Once true it stays so; another process may know it before the job's holder does. */
  readonly webhookSent: boolean;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** First claim ever. */
  readonly startedAt: number | null;
  /** When the latest attempt was claimed. */
  readonly attemptAt: number | null;
  /** When the job completed, failed or was cancelled. */
  readonly finishedAt: number | null;
  /** When retention marked the job stale. */
  readonly staleAt: number | null;
  /** Number of the job's last transition: 0 is its birth. */
  readonly seq: number;
  /** Grows with every claim; writes made under an older fence are refused. */
  readonly fence: number;
  readonly leaseOwner: string | null;
  /** As of the last change; the holder renews it meanwhile. */
  readonly leaseExpiresAt: number | null;
  /** Which phase list the job runs under; see `docs/lifecycle.md`. */
  readonly machineVersion: number;
}

/** One line of the append-only log. `position` is global, `seq` counts within the job. */
export interface TransitionRecord {
  readonly position: number;
  readonly jobId: string;
  readonly pipeline: string;
  readonly seq: number;
  /** State before, e.g. `active.resize`; `null` for the birth. */
  readonly from: string | null;
  readonly to: string;
  readonly event: string;
  readonly phase: string | null;
  readonly attempt: number;
  readonly error: Failure | null;
  readonly at: number;
}

/** The names under which transitions (and progress) are told to the world. */
export const JOB_EVENT_NAMES = [
  'job:enqueued',
  'job:started',
  'job:progress',
  'job:phase:completed',
  'job:completed',
  'job:failed',
  'job:retrying',
  'job:cancelled',
  'job:paused',
  'job:resumed',
  'job:released',
  'job:unblocked',
  'job:stale',
  'job:deleted',
  'job:webhook:delivered',
  'job:webhook:failed',
] as const;

/** See {@link JOB_EVENT_NAMES}. */
export type JobEventName = (typeof JOB_EVENT_NAMES)[number];

/** What the statechart must know of one phase. */
export interface PhaseSpec {
  readonly name: string;
  readonly timeoutMs: number | null;
}
