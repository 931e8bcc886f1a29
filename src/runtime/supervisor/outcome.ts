/** What came of a phase, and what that means for its job. */
import type { Blob } from '../../actors/blobs.ts';
import { showThrown, toFailure } from '../../actors/failure.ts';
import type { PhaseStoppedError } from '../../actors/handler.ts';
import type { PhaseFailed } from '../../actors/job-events.ts';
import type { Disposition, FailureOutcome, JobRecord, PhaseUsage } from '../../actors/vocabulary.ts';
import type { Overrun } from '../../threads/thread-run.ts';
import type { AnyPipeline } from '../pipeline.ts';

/** A phase that ended well, or not. */
export type Outcome = Success | Failing;

export interface Success {
  readonly ok: true;
  readonly result: unknown;
  readonly blobs: readonly Blob[];
  readonly usage: PhaseUsage | null;
}

export interface Failing {
  readonly ok: false;
  readonly thrown: unknown;
  readonly outcome: FailureOutcome;
  readonly usage: PhaseUsage | null;
  /** The disposition when neither the error nor `classify` decides, instead of the outcome's own. */
  readonly fallback?: Disposition;
}

/** A phase under way, on whichever side. */
export interface RunningPhase {
  /** Never rejects. Comes when the handler has returned, or its thread is really gone. */
  readonly outcome: Promise<Outcome>;
  /** Asks the handler to stop. */
  stop(reason: PhaseStoppedError, overrun?: Overrun): void;
  /** Ends its thread, if it has one. */
  kill?(): void;
}

/** What nobody has decided on: accidents are worth another attempt, a result that cannot be stored is not. */
const FALLBACKS: Readonly<Partial<Record<FailureOutcome, Disposition>>> = {
  timeout: 'recoverable',
  unresponsive: 'recoverable',
  out_of_memory: 'recoverable',
  crashed: 'recoverable',
  bad_result: 'fatal',
};

/** The event a failed phase sends to its job. */
export function failedEvent(pipeline: AnyPipeline, job: JobRecord, failing: Failing, at: number): PhaseFailed {
  const { thrown, outcome, usage, fallback = FALLBACKS[outcome] } = failing;
  const failure = { ...toFailure(thrown), outcome };
  try {
    const { disposition, delayMs } = pipeline.retry.decide(withOutcome(thrown, outcome), { ...job }, fallback);
    return { type: 'phaseFailed', at, failure, disposition, retryAt: at + delayMs, usage };
  } catch (error) {
    // `classify` is the user's code; if it throws, giving up is the safe answer, and its error goes on record.
    const cause = toFailure(
      new Error(`retry.classify threw: ${showThrown((error as Error | null)?.message ?? error)}`, { cause: thrown }),
    );
    return { type: 'phaseFailed', at, failure: { ...cause, outcome }, disposition: 'fatal', retryAt: at, usage };
  }
}

/** `classify` may want to know how the attempt ended, not only what was thrown. */
function withOutcome(thrown: unknown, outcome: FailureOutcome): unknown {
  try {
    Object.defineProperty(thrown, 'outcome', { value: outcome, configurable: true, enumerable: false });
  } catch {
    // A string, or something frozen: `classify` sees it as it is.
  }
  return thrown;
}
