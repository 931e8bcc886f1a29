/**
 * The errors callers may want to tell apart. One base with a `code`; a subclass only where a caller
 * would branch. A job that fails is not an error of the queue: it is a `Failure` in the job's record.
 */
import { MillraceError } from '../actors/errors.ts';
import type { Failure, JobRecord } from '../actors/vocabulary.ts';

export { InvalidInputError, MillraceError, type MillraceErrorCode } from '../actors/errors.ts';

/** There is no such job (any more). */
export class NotFoundError extends MillraceError {
  readonly jobId: string;

  constructor(jobId: string) {
    super('not_found', `There is no job "${jobId}". It may have been deleted by retention.`);
    this.jobId = jobId;
  }
}

/** The job's present state does not allow what was asked, or the id is taken. */
export class ConflictError extends MillraceError {
  readonly jobId: string;
  readonly state: string | null;
  readonly event: string;

  constructor(jobId: string, state: string | null, event: string, message?: string) {
    super('conflict', message ?? `Job "${jobId}" is ${state}, which does not allow "${event}".`);
    this.jobId = jobId;
    this.state = state;
    this.event = event;
  }
}

/** The queue has been told to shut down and takes no more calls. */
export class ShuttingDownError extends MillraceError {
  constructor() {
    super('shutting_down', 'The queue is shutting down or closed; create a new JobQueue to go on.');
  }
}

/** Shutdown ended, but not every job did so in time; `jobIds` were stopped and given back. */
export class ShutdownTimeoutError extends MillraceError {
  readonly jobIds: readonly string[];

  constructor(timeoutMs: number, jobIds: readonly string[]) {
    super(
      'shutdown_timeout',
      `${jobIds.length} job(s) were still running after ${timeoutMs} ms and were stopped: ${jobIds.slice(0, 5).join(', ')}${jobIds.length > 5 ? ', …' : ''}.`,
    );
    this.jobIds = jobIds;
  }
}

/** The database cannot be used now (or at all); `code` says why, `cause` is the driver's error. */
export class StoreUnavailableError extends MillraceError {
  /** A handler that fails for this has done nothing wrong, and is worth another attempt. */
  readonly disposition = 'recoverable';
}

/** Stored jobs were born under phases that the pipeline no longer has. */
export class PhasesChangedError extends MillraceError {
  readonly pipeline: string;
  readonly jobs: number;

  constructor(pipeline: string, jobs: number, stored: readonly string[], current: readonly string[]) {
    super(
      'phases_changed',
      `Pipeline "${pipeline}": ${jobs} unfinished job(s) were born under the phases [${stored.join(', ')}] and cannot go on ` +
        `under [${current.join(', ')}], because phases they have already finished are gone or in another place. Restore the phases, ` +
        `or choose onPhasesChanged: 'migrate' (keep results of the phases both lists begin with, run the rest) or 'fail' (mark those jobs failed).`,
    );
    this.pipeline = pipeline;
    this.jobs = jobs;
  }
}

/** `queue.result(id)`: the job failed. `failure` is what its record says. */
export class JobFailedError extends MillraceError {
  readonly jobId: string;
  readonly failure: Failure | null;

  constructor(job: JobRecord) {
    super('job_failed', `Job "${job.id}" failed: ${job.error?.message ?? 'no error was recorded'}`);
    this.jobId = job.id;
    this.failure = job.error;
  }
}

/** `queue.result(id)`: the job was cancelled. */
export class JobCancelledError extends MillraceError {
  readonly jobId: string;
  readonly reason: string | null;

  constructor(jobId: string, reason: string | null) {
    super('job_cancelled', `Job "${jobId}" was cancelled${reason ? `: ${reason}` : ''}.`);
    this.jobId = jobId;
    this.reason = reason;
  }
}

/** A handler that cannot be loaded, and why. */
export interface BadHandler {
  readonly pipeline: string;
  readonly phase: string;
  readonly file: string;
  readonly problem: string;
}

/** Thread handlers that cannot be loaded. Jobs of their pipelines are left alone. */
export class BadHandlerError extends MillraceError {
  readonly handlers: readonly BadHandler[];

  constructor(handlers: readonly BadHandler[]) {
    const lines = handlers.map(
      ({ pipeline, phase, problem }) => `Pipeline "${pipeline}", phase "${phase}": ${problem}`,
    );
    super('bad_handler', lines.join('\n'));
    this.handlers = handlers;
  }
}

/** `watchJobs`: the server's answer is not an event stream and asking again would not help. */
export class StreamRefusedError extends MillraceError {
  /** The status of the response. */
  readonly status: number;

  constructor(status: number, problem: string, options?: ErrorOptions) {
    super('stream_refused', `The event stream was refused (HTTP ${status}): ${problem}`, options);
    this.status = status;
  }
}
