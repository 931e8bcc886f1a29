/**
 * What each event does to the facts of a job: one small pure function per event.
 * Whether the event is allowed, and which state follows, is the statechart's business (`job-machine.ts`).
 * In the hot ones new keys stand before a spread: V8 adds keys to a spread object one by one, at fifty times the cost.
 */
import type { JobEventOf } from './job-events.ts';
import type { JobRecord, PhaseSpec, PhaseState, PhaseStatus } from './vocabulary.ts';

/** What the statechart's context holds: the job record without what the state itself says. */
export type JobFacts = Omit<JobRecord, 'status'>;

type Patch = Partial<JobFacts>;

/** Overall progress, from the phase that is running and what it reported. */
export function overallProgress(phaseIndex: number, phaseProgress: number, total: number): number {
  return Math.round(((phaseIndex + phaseProgress / 100) / total) * 100);
}

/** A phase nobody has touched. */
export function freshPhase(name: string): PhaseState {
  return {
    name,
    status: 'pending',
    progress: 0,
    message: null,
    startedAt: null,
    completedAt: null,
    error: null,
    blobs: 0,
    usage: null,
  };
}

const NO_LEASE = { leaseOwner: null, leaseExpiresAt: null, timeoutAt: null } as const;

function patchPhase(job: JobFacts, index: number, patch: Partial<PhaseState>): readonly PhaseState[] {
  const phases = job.phases.slice();
  const phase = phases[index];
  if (phase) phases[index] = { ...phase, ...patch };
  return phases;
}

function patchUnfinished(job: JobFacts, status: PhaseStatus): readonly PhaseState[] {
  return job.phases.map((phase) => (phase.status === 'completed' ? phase : { ...phase, status }));
}

/** The running phase's limit and the job's own, whichever comes first. */
function timeoutAt(job: JobFacts, spec: PhaseSpec, phaseStart: number, attemptStart: number): number | null {
  const phaseLimit = spec.timeoutMs === null ? Number.POSITIVE_INFINITY : phaseStart + spec.timeoutMs;
  const jobLimit = job.timeoutMs === null ? Number.POSITIVE_INFINITY : attemptStart + job.timeoutMs;
  const limit = Math.min(phaseLimit, jobLimit);
  return Number.isFinite(limit) ? limit : null;
}

function startPhase(job: JobFacts, spec: PhaseSpec, index: number, at: number, attemptAt: number): Patch {
  return {
    currentPhase: spec.name,
    phases: patchPhase(job, index, {
      status: 'active',
      progress: 0,
      message: null,
      startedAt: at,
      completedAt: null,
    }),
    progress: overallProgress(index, 0, job.phases.length),
    timeoutAt: timeoutAt(job, spec, at, attemptAt),
  };
}

export function claimed(job: JobFacts, event: JobEventOf<'claimed'>, specs: readonly PhaseSpec[]): Patch {
  return {
    attempt: job.attempt + 1,
    attemptAt: event.at,
    fence: job.fence + 1,
    leaseOwner: event.owner,
    leaseExpiresAt: event.leaseExpiresAt,
    startedAt: job.startedAt ?? event.at,
    reason: null,
    ...startPhase(job, spec(specs, job.phaseIndex), job.phaseIndex, event.at, event.at),
  };
}

export function phaseStarted(job: JobFacts, event: JobEventOf<'phaseStarted'>, specs: readonly PhaseSpec[]): Patch {
  const attemptAt = event.beginsAttempt ? event.at : (job.attemptAt ?? event.at);
  return { attemptAt, ...startPhase(job, spec(specs, job.phaseIndex), job.phaseIndex, event.at, attemptAt) };
}

export function progressed(job: JobFacts, event: JobEventOf<'progressed'>): Patch {
  return {
    phases: patchPhase(job, job.phaseIndex, { progress: event.progress, message: event.message }),
    progress: overallProgress(job.phaseIndex, event.progress, job.phases.length),
    progressMessage: event.message,
  };
}

export function phaseCompleted(job: JobFacts, event: JobEventOf<'phaseCompleted'>, specs: readonly PhaseSpec[]): Patch {
  const index = job.phaseIndex;
  const next = index + 1;
  const done = {
    phaseIndex: next,
    phases: patchPhase(job, index, {
      status: 'completed',
      startedAt: event.startedAt ?? job.phases[index]?.startedAt ?? null,
      progress: 100,
      completedAt: event.at,
      error: null,
      blobs: event.blobs ?? 0,
      usage: event.usage ?? null,
    }),
    phaseResults: withResult(job, spec(specs, index).name, event.result),
    progress: overallProgress(next, 0, specs.length),
  };
  const following = specs[next];
  if (following) {
    const { phaseResults, phases } = done;
    const started = startPhase({ ...job, phases }, following, next, event.at, job.attemptAt ?? event.at);
    return { phaseIndex: next, phaseResults, ...started };
  }
  return { leaseOwner: null, leaseExpiresAt: null, timeoutAt: null, finishedAt: event.at, error: null, ...done };
}

type Failed = JobEventOf<'phaseFailed' | 'interrupted' | 'abandoned'>;

function failure(job: JobFacts, event: Failed): Patch {
  const { failure: cause } = event;
  const error = job.currentPhase === null ? cause : { ...cause, phase: job.currentPhase };
  const { usage = null, startedAt } = event.type === 'phaseFailed' ? event : {};
  return {
    ...NO_LEASE,
    error,
    phases: patchPhase(job, job.phaseIndex, {
      status: 'failed',
      startedAt: startedAt ?? job.phases[job.phaseIndex]?.startedAt ?? null,
      error: cause.message,
      usage,
    }),
  };
}

export function willRetry(job: JobFacts, event: JobEventOf<'phaseFailed' | 'interrupted'>): Patch {
  return { ...failure(job, event), scheduledAt: event.retryAt };
}

export function gaveUp(job: JobFacts, event: Failed): Patch {
  return { ...failure(job, event), finishedAt: event.at };
}

/** The running phase goes back to the start; the attempt it used up is given back. */
function putBack(job: JobFacts): Patch {
  return {
    ...NO_LEASE,
    attempt: Math.max(0, job.attempt - 1),
    phases: patchPhase(job, job.phaseIndex, freshPhase(job.phases[job.phaseIndex]?.name ?? '')),
    progress: overallProgress(job.phaseIndex, 0, job.phases.length),
  };
}

export function released(job: JobFacts): Patch {
  return putBack(job);
}

export function pausedAtRest(_job: JobFacts, event: JobEventOf<'pause'>): Patch {
  return { reason: event.reason };
}

export function pausedWhileActive(job: JobFacts, event: JobEventOf<'pause'>): Patch {
  return { ...putBack(job), reason: event.reason };
}

export function resumed(): Patch {
  return { reason: null };
}

export function cancelled(job: JobFacts, event: JobEventOf<'cancel'>): Patch {
  return {
    ...NO_LEASE,
    phases: patchUnfinished(job, 'cancelled'),
    finishedAt: event.at,
    reason: event.reason,
  };
}

/** The result given from outside stands in for the last phase's. */
export function completedOutside(job: JobFacts, event: JobEventOf<'complete'>, specs: readonly PhaseSpec[]): Patch {
  return {
    ...NO_LEASE,
    phaseIndex: specs.length,
    phases: patchUnfinished(job, 'skipped'),
    phaseResults: withResult(job, spec(specs, specs.length - 1).name, event.result),
    progress: 100,
    finishedAt: event.at,
    error: null,
    reason: null,
  };
}

/** A fresh set of attempts for what is unfinished; results stay. */
export function retried(job: JobFacts, event: JobEventOf<'retry'>): Patch {
  return {
    attempt: 0,
    error: null,
    reason: null,
    scheduledAt: event.at,
    expiresAt: null,
    finishedAt: null,
    staleAt: null,
    progress: overallProgress(job.phaseIndex, 0, job.phases.length),
    progressMessage: null,
    phases: job.phases.map((phase) => (phase.status === 'completed' ? phase : freshPhase(phase.name))),
  };
}

export function markedStale(_job: JobFacts, event: JobEventOf<'markStale'>): Patch {
  return { staleAt: event.at };
}

export function webhookDelivered(): Patch {
  return { webhookSent: true };
}

function withResult(job: JobFacts, phase: string, result: unknown): Readonly<Record<string, unknown>> {
  return result === undefined ? job.phaseResults : { ...job.phaseResults, [phase]: result };
}

function spec(specs: readonly PhaseSpec[], index: number): PhaseSpec {
  const found = specs[index];
  if (!found) throw new RangeError(`There is no phase ${index} in a pipeline of ${specs.length}.`);
  return found;
}
