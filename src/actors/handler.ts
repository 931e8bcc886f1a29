/**
 * What a phase handler sees, on whichever side it runs, and the errors it may throw to say what should
 * happen next. Imported by threads too, so nothing here may reach for the runtime.
 */
import type { Disposition, JobRecord, LogLine, StopReason } from './vocabulary.ts';

/** The second argument of every phase handler. */
export interface PhaseContext<Results = Readonly<Record<string, unknown>>> {
  /** Aborts when the phase must stop; `signal.reason` is a {@link PhaseStoppedError} whose `code` says why. */
  readonly signal: AbortSignal;
  /** Name of the phase that is running. */
  readonly phase: string;
  /** 1 for the first attempt. */
  readonly attempt: number;
  /** The same for every attempt of this phase of this job: hand it to services that drop repeats. */
  readonly idempotencyKey: string;
  /** Throws the signal's reason if the phase must stop. Cheap enough for a tight loop. */
  checkpoint(): void;
  /** Reports progress of this phase, 0 to 100. Stored, then told to listeners; bursts keep the latest. */
  progress(percent: number, message?: string): void;
  /** Keeps a line with the job; see `queue.logs(id)`. On a thread, `console` does the same. */
  log(text: string, level?: LogLine['level']): void;
  /** The result of an earlier phase. */
  phaseResult<Name extends keyof Results & string>(name: Name): Results[Name];
  /** The results of all earlier phases. */
  phaseResults(): Results;
}

/** A function that does the work of one phase. */
export type PhaseHandler<Data = unknown, Results = Readonly<Record<string, unknown>>, Result = unknown> = (
  job: JobRecord<string, Data>,
  ctx: PhaseContext<Results>,
) => Result | Promise<Result>;

/** Why a handler was told to stop. */
export class PhaseStoppedError extends Error {
  override readonly name = 'PhaseStoppedError';
  readonly code: StopReason;
  /** The words of whoever asked, if there were any. */
  readonly detail: string | null;

  constructor(code: StopReason, detail: string | null = null) {
    super(`The phase was told to stop: ${code}${detail ? ` (${detail})` : ''}.`);
    this.code = code;
    this.detail = detail;
  }
}

/** Throw it to have the phase tried again while attempts are left, whatever `classify` says. */
export class RecoverableError extends Error {
  override readonly name: string = 'RecoverableError';
  readonly disposition: Disposition = 'recoverable';
}

/** Throw it to fail the job at once, whatever `classify` says. */
export class FatalError extends Error {
  override readonly name = 'FatalError';
  readonly disposition: Disposition = 'fatal';
}

/** Throw it to have the phase tried again after `retryAfterMs`, while attempts are left. */
export class RetryAfter extends RecoverableError {
  override readonly name = 'RetryAfter';
  readonly retryAfterMs: number;

  constructor(retryAfterMs: number, message = `Try again after ${retryAfterMs} ms.`) {
    super(message);
    if (!Number.isFinite(retryAfterMs) || retryAfterMs < 0) {
      throw new RangeError(`RetryAfter takes a number of milliseconds from 0 up, not ${retryAfterMs}.`);
    }
    this.retryAfterMs = retryAfterMs;
  }
}
