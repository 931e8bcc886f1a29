/** The questions the statechart asks before it chooses between two ways on. */
import type { JobEventOf } from './job-events.ts';
import type { JobFacts } from './lifecycle.ts';

/** Is this the phase to run next? */
export function isNextPhase(job: JobFacts, index: number): boolean {
  return job.phaseIndex === index;
}

/** May an interrupted job be tried again? */
export function attemptsLeft(job: JobFacts): boolean {
  return job.attempt < job.maxAttempts;
}

/** Is the failure worth another attempt, and is there one left? */
export function mayRetry(job: JobFacts, event: JobEventOf<'phaseFailed'>): boolean {
  return event.disposition === 'recoverable' && attemptsLeft(job);
}

/** Is there anything a manual retry could run? A completed job that went stale has nothing left. */
export function hasUnfinishedPhases(job: JobFacts): boolean {
  return job.phaseIndex < job.phases.length;
}
