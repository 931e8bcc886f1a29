/** A live job: a real XState actor, activated from its record and asked to judge events. */
import { type Actor, createActor, type StateValue } from 'xstate';
import type { Effect } from './effects.ts';
import { isQuiet, JOB_ACTIONS, type JobAction, type JobEvent } from './job-events.ts';
import { JobLogic, Snapshots, stateOf } from './job-logic.ts';
import { createJobMachine, type JobMachine, type MachineSpec } from './job-machine.ts';
import { freshPhase } from './lifecycle.ts';
import type { JobRecord, JobStatus, PhaseSpec, PhaseState, TransitionRecord } from './vocabulary.ts';

/** A pipeline's statechart with what is asked of it for every job, worked out once. */
export interface JobChart {
  readonly pipeline: string;
  readonly phases: readonly PhaseSpec[];
  readonly machine: JobMachine;
  readonly snapshots: Snapshots;
  /** The state jobs are born into. */
  readonly initial: JobStatus;
  /** The phases of a job nobody has touched. */
  readonly untouched: readonly PhaseState[];
}

/** Makes the chart of one pipeline. */
export function createJobChart(spec: MachineSpec): JobChart {
  const machine = createJobMachine(spec);
  const initial = machine.root.initial.target[0]?.key as JobStatus;
  return {
    ...spec,
    machine,
    snapshots: new Snapshots(machine),
    initial,
    untouched: spec.phases.map(({ name }) => freshPhase(name)),
  };
}

/** A log entry on its way to the store. */
export type StagedTransition = Omit<TransitionRecord, 'position'> & {
  /** 0 until the commit gives it one. */
  position: number;
};

/** What one accepted event did. */
export interface Step {
  readonly job: JobRecord;
  /** `null` for progress and the like, which is state and not history. */
  readonly transition: StagedTransition | null;
  readonly effects: readonly Effect[];
}

/** A job on its way into the world. */
export interface Newborn {
  readonly job: JobRecord;
  readonly transition: StagedTransition;
}

/** What must be known to bring a job into the world; the rest follows. */
export type Birth = Pick<
  JobRecord,
  | 'id'
  | 'pipeline'
  | 'data'
  | 'priority'
  | 'maxAttempts'
  | 'scheduledAt'
  | 'expiresAt'
  | 'timeoutMs'
  | 'webhookUrl'
  | 'createdAt'
  | 'machineVersion'
>;

/** The judge of one job. Forget it and activate another one whenever its record was changed by somebody else. */
export class JobActor {
  readonly #chart: JobChart;
  readonly #logic: JobLogic;
  readonly #actor: Actor<JobLogic>;
  #state: string;
  #job: JobRecord;
  /** What the store has, as far as we know: memory is at most one commit ahead of it. */
  #committed: JobRecord;

  /** Activates the actor of a job at rest, or of one whose actor was dropped. */
  constructor(chart: JobChart, job: JobRecord) {
    this.#logic = new JobLogic(chart.machine, chart.snapshots.of(job));
    this.#actor = createActor(this.#logic).start();
    this.#chart = chart;
    this.#state = stateOf(job);
    this.#job = job;
    this.#committed = job;
  }

  /** The job as the last accepted event left it. Not for the outside: the next change is worked out from it. */
  get job(): JobRecord {
    return this.#job;
  }

  /** What was judged so far has been committed. */
  settle(): void {
    this.#committed = this.#job;
  }

  /** The actor as it was at the last commit. This one is not to be used any more. */
  rolledBack(): JobActor {
    return new JobActor(this.#chart, this.#committed);
  }

  /** Lets the statechart judge; `null` means that the present state refuses the event. */
  send(event: JobEvent): Step | null {
    const before = this.#actor.getSnapshot();
    this.#actor.send(event);
    const effects = this.#logic.effects();
    const after = this.#actor.getSnapshot();
    // Every accepted event makes new facts, so old ones mean that nothing was accepted.
    if (after.context.job === before.context.job) return null;

    const from = this.#state;
    this.#state = stateName(after.value);
    this.#job = { ...after.context.job, status: statusOf(this.#state) };
    return {
      // A copy: it will be told to listeners, and what they do to it must not decide what is written next.
      job: { ...this.#job },
      transition: isQuiet(event.type) ? null : toTransition(from, this.#state, event, this.#job),
      effects,
    };
  }
}

/** Transition 0: record and log entry of a new job, in the statechart's own initial state. No actor is needed. */
export function born(chart: JobChart, birth: Birth): Newborn {
  // Every field by name: V8 adds keys to a spread object one by one, at a hundred times the cost.
  const job: JobRecord = {
    id: birth.id,
    pipeline: birth.pipeline,
    status: chart.initial,
    data: birth.data,
    priority: birth.priority,
    attempt: 0,
    maxAttempts: birth.maxAttempts,
    currentPhase: null,
    phases: chart.untouched,
    phaseIndex: 0,
    phaseResults: {},
    progress: 0,
    progressMessage: null,
    error: null,
    reason: null,
    scheduledAt: birth.scheduledAt,
    expiresAt: birth.expiresAt,
    timeoutMs: birth.timeoutMs,
    timeoutAt: null,
    webhookUrl: birth.webhookUrl,
    webhookSent: false,
    createdAt: birth.createdAt,
    updatedAt: birth.createdAt,
    startedAt: null,
    attemptAt: null,
    finishedAt: null,
    staleAt: null,
    seq: 0,
    fence: 0,
    leaseOwner: null,
    leaseExpiresAt: null,
    machineVersion: birth.machineVersion,
  };
  const transition = toTransition(null, chart.initial, { type: 'born', at: birth.createdAt }, job);
  return { job, transition };
}

/** What a person may do to the job in its present state, asked of the statechart itself. */
export function allowedActions(chart: JobChart, job: JobRecord): readonly JobAction[] {
  const snapshot = chart.snapshots.of(job);
  return JOB_ACTIONS.filter((type) => snapshot.can({ type, at: 0, reason: null, result: undefined } as JobEvent));
}

function stateName(value: StateValue): string {
  return typeof value === 'string' ? value : `active.${value.active}`;
}

function statusOf(state: string): JobStatus {
  return (state.startsWith('active.') ? 'active' : state) as JobStatus;
}

/** The phase an event is about: the one that was running, or the one that begins. */
function phaseOf(state: string | null): string | null {
  return state?.startsWith('active.') ? state.slice('active.'.length) : null;
}

function toTransition(
  from: string | null,
  to: string,
  event: { readonly type: string; readonly at: number },
  job: JobRecord,
): StagedTransition {
  const failed = event.type === 'phaseFailed' || event.type === 'interrupted' || event.type === 'abandoned';
  return {
    position: 0,
    jobId: job.id,
    pipeline: job.pipeline,
    seq: job.seq,
    from,
    to,
    event: event.type,
    phase: phaseOf(from) ?? phaseOf(to) ?? job.currentPhase,
    attempt: job.attempt,
    error: failed ? job.error : null,
    at: event.at,
  };
}
