/**
 * What a job's actor runs: the statechart, begun from a record. Actions become effects, as data, and an error of ours stays here:
 * XState would throw it into the host's event loop.
 *
 * The actor is given this as its logic and no options. With options (`{ snapshot }`) XState builds an object for which V8 makes a new shape
 * each time, which takes eight times as long as the actor without them, and searches the whole of the job's data for actors.
 */
import type { ActorLogic, ActorScope, SnapshotFrom, StateValue } from 'xstate';
import { type Effect, effectOf } from './effects.ts';
import type { JobEvent } from './job-events.ts';
import type { JobMachine } from './job-machine.ts';
import type { JobRecord } from './vocabulary.ts';

export type JobSnapshot = SnapshotFrom<JobMachine>;

type Scope = ActorScope<JobSnapshot, JobEvent>;

/** Records as the statechart sees them. But for the record, all snapshots of a state are the same, and are worked out once. */
export class Snapshots {
  readonly #machine: JobMachine;
  readonly #byState = new Map<string, JobSnapshot>();

  constructor(machine: JobMachine) {
    this.#machine = machine;
  }

  of(job: JobRecord): JobSnapshot {
    const state = stateOf(job);
    let known = this.#byState.get(state);
    if (!known) {
      const value: StateValue = job.status === 'active' ? { active: job.currentPhase ?? '' } : job.status;
      known = this.#machine.resolveState({ value: value as never, context: undefined as never });
      this.#byState.set(state, known);
    }
    return { ...known, context: { job } };
  }
}

/** The whole state's name, e.g. `active.resize`. */
export function stateOf(job: Pick<JobRecord, 'status' | 'currentPhase'>): string {
  return job.status === 'active' ? `active.${job.currentPhase}` : job.status;
}

/** The statechart of one job's actor. */
export class JobLogic implements ActorLogic<JobSnapshot, JobEvent> {
  readonly #machine: JobMachine;
  readonly #first: JobSnapshot;
  #effects: Effect[] = [];
  #error: unknown = null;

  constructor(machine: JobMachine, first: JobSnapshot) {
    this.#machine = machine;
    this.#first = first;
  }

  getInitialSnapshot(): JobSnapshot {
    return this.#first;
  }

  transition(snapshot: JobSnapshot, event: JobEvent, scope: Scope): JobSnapshot {
    const effects: Effect[] = [];
    this.#effects = effects;
    try {
      const actionExecutor: Scope['actionExecutor'] = (action) => effects.push(effectOf(action));
      return this.#machine.transition(snapshot, event, { ...scope, actionExecutor } as never);
    } catch (error) {
      this.#error = error;
      return snapshot;
    }
  }

  getPersistedSnapshot(snapshot: JobSnapshot) {
    return this.#machine.getPersistedSnapshot(snapshot);
  }

  /** What the event judged last wishes for; throws if it could not be judged. */
  effects(): readonly Effect[] {
    if (this.#error) throw this.#error;
    return this.#effects;
  }
}
