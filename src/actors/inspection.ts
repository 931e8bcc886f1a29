/**
 * What happened to a job, in the words of XState's inspection API: the supervisor is the root actor, every job one below it.
 * Jobs at rest have no actor, and live ones are a commit ahead, so the actors shown here are stand-ins that hold what was
 * committed. Pure; who is told, and of which jobs, is decided in `journal/inspect-feed.ts`.
 */
import type { InspectionEvent, Snapshot } from 'xstate';
import type { JobMachine } from './job-machine.ts';
import type { JobRecord, TransitionRecord } from './vocabulary.ts';

export type { InspectionEvent };

/** An actor as inspectors know it. */
export interface InspectedActor {
  /** What it is called: the job's id. */
  readonly id: string;
  /** Unique among all actors of all queues in a program. */
  readonly sessionId: string;
  readonly _parent: InspectedActor | undefined;
  /** The statechart's definition, states in the machine's order. */
  readonly logic: { readonly config: unknown };
  /** What was committed with the message this actor came in. */
  getSnapshot(): Snapshot<unknown>;
  /** Inspection is for looking: jobs are moved with the queue's own verbs. */
  send(): never;
}

/** A job's snapshot, as plain data; `context` is the job record as committed. */
export interface InspectedSnapshot {
  readonly status: 'active' | 'done';
  readonly value: string | Readonly<Record<string, string>>;
  readonly context: JobRecord;
  readonly output: undefined;
  readonly error: undefined;
  readonly historyValue: object;
  readonly tags: readonly string[];
  readonly children: object;
}

/** The root: whoever commits. */
export function supervisorActor(sessionId: string): InspectedActor {
  const snapshot = { status: 'active', output: undefined, error: undefined, context: {}, children: {} } as const;
  return toActor('supervisor', sessionId, undefined, { id: 'supervisor' }, snapshot);
}

/** The job's actor as it was when the transition to `state` was committed. */
export function jobActor(root: InspectedActor, machine: JobMachine, job: JobRecord, state: string): InspectedActor {
  return toActor(job.id, `${root.sessionId}/${job.id}`, root, definitionOf(machine), snapshotAt(job, state));
}

/** Introduces an actor. */
export function actorMessage(actor: InspectedActor): InspectionEvent {
  return { type: '@xstate.actor', rootId: rootOf(actor).sessionId, actorRef: actor };
}

/** One committed transition: the event the supervisor sent, and what it led to. */
export function transitionMessages(actor: InspectedActor, transition: TransitionRecord): readonly InspectionEvent[] {
  const root = rootOf(actor);
  const { event: type, at, position, seq, from, to, phase, attempt, error } = transition;
  const event = { type, at, position, seq, from, to, phase, attempt, ...(error && { error }) };
  const common = { rootId: root.sessionId, actorRef: actor, event };
  return [
    { type: '@xstate.event', sourceRef: root, ...common },
    { type: '@xstate.snapshot', snapshot: actor.getSnapshot(), ...common },
  ];
}

function rootOf(actor: InspectedActor): InspectedActor {
  return actor._parent ?? actor;
}

function toActor(
  id: string,
  sessionId: string,
  _parent: InspectedActor | undefined,
  config: unknown,
  snapshot: Snapshot<unknown>,
): InspectedActor {
  return {
    id,
    sessionId,
    _parent,
    logic: { config },
    getSnapshot: () => snapshot,
    send() {
      throw new Error("An inspected actor takes no events; use the queue's verbs (cancel, retry, pause …) instead.");
    },
  };
}

function snapshotAt(job: JobRecord, state: string): InspectedSnapshot & Snapshot<unknown> {
  const [parent = state, child] = state.split('.');
  return {
    status: state === 'deleted' ? 'done' : 'active',
    value: child === undefined ? parent : { [parent]: child },
    context: job,
    output: undefined,
    error: undefined,
    historyValue: {},
    tags: [],
    children: {},
  };
}

const definitions = new WeakMap<JobMachine, unknown>();

/**
 * The machine's definition as inspectors read it. Some write it down with sorted keys, so every state says its place itself, as
 * XState's own `order` does.
 */
export function definitionOf(machine: JobMachine): unknown {
  const known = definitions.get(machine);
  if (known) return known;
  const { id, description, initial, states } = machine.config;
  const definition = { id, description, initial, states: ordered(states as Readonly<Record<string, StateConfig>>) };
  definitions.set(machine, definition);
  return definition;
}

interface StateConfig {
  readonly states?: Readonly<Record<string, StateConfig>>;
}

function ordered(states: Readonly<Record<string, StateConfig>>): unknown {
  return Object.fromEntries(
    Object.entries(states).map(([name, state], order) => {
      const inner = state.states ? { states: ordered(state.states) } : {};
      return [name, { order, ...state, ...inner }];
    }),
  );
}
