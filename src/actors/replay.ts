/**
 * What a job was like after each entry of its log: the log judged once more by the statechart. The log keeps events without all
 * they carried, so only what follows from it is told; where it does not reach back to the birth, or the phases have
 * changed since, nothing is. Pure.
 */
import { born, createJobChart, JobActor } from './job-actor.ts';
import type { JobEvent } from './job-events.ts';
import { stateOf } from './job-logic.ts';
import type { JobRecord, TransitionRecord } from './vocabulary.ts';

/** What can be told of a job's past. */
export interface PastJob
  extends Pick<
    JobRecord,
    | 'status'
    | 'attempt'
    | 'currentPhase'
    | 'phases'
    | 'phaseIndex'
    | 'progress'
    | 'error'
    | 'updatedAt'
    | 'startedAt'
    | 'attemptAt'
    | 'finishedAt'
    | 'staleAt'
    | 'seq'
    | 'fence'
  > {
  /** Phases whose results were there. */
  readonly results: readonly string[];
}

/** One answer per log entry, oldest first; `null` where nothing can be told. */
export function replay(job: JobRecord, log: readonly TransitionRecord[]): readonly (PastJob | null)[] {
  const phases = job.phases.map(({ name }) => ({ name, timeoutMs: null }));
  const [first, ...rest] = log;
  if (first?.seq !== 0) return log.map(() => null);
  const chart = createJobChart({ pipeline: job.pipeline, phases });
  const newborn = { ...born(chart, job).job, status: first.to as JobRecord['status'] };
  const actor = new JobActor(chart, newborn);
  const past: (PastJob | null)[] = [toPast(newborn)];
  for (const entry of rest) {
    const known = past.at(-1) ? judged(actor, job, entry) : null;
    past.push(known);
  }
  return past;
}

/** The statechart's word on one entry, if it says what the log says. */
function judged(actor: JobActor, job: JobRecord, entry: TransitionRecord): PastJob | null {
  try {
    const step = actor.send(toEvent(job, entry));
    return step && stateOf(step.job) === entry.to && step.job.seq === entry.seq ? toPast(step.job) : null;
  } catch {
    return null;
  }
}

/** The event as far as it can be known; the rest is left out of {@link PastJob}. */
function toEvent(job: JobRecord, { event, at, phase, error, to }: TransitionRecord): JobEvent {
  const last = job.phases.at(-1)?.name;
  return {
    type: event,
    at,
    owner: '',
    leaseExpiresAt: 0,
    retryAt: at,
    reason: null,
    failure: error ?? { name: 'Error', message: '' },
    disposition: to === 'retrying' ? 'recoverable' : 'fatal',
    result: job.phaseResults[(event === 'complete' ? last : phase) ?? ''],
  } as JobEvent;
}

function toPast(job: JobRecord): PastJob {
  const { status, attempt, currentPhase, phases, phaseIndex, progress, error, seq, fence } = job;
  const { updatedAt, startedAt, attemptAt, finishedAt, staleAt, phaseResults } = job;
  const times = { updatedAt, startedAt, attemptAt, finishedAt, staleAt };
  const results = Object.keys(phaseResults);
  return { status, attempt, currentPhase, phases, phaseIndex, progress, error, ...times, seq, fence, results };
}
