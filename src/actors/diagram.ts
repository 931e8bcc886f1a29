/**
 * A statechart as plain data, read off the machine itself so that it cannot drift from it: every state and every
 * transition, in the machine's own order. How it is drawn is told by `drawing.ts`.
 */
import type { AnyStateNode } from 'xstate';
import type { JobMachine } from './job-machine.ts';

/** A statechart as data: what `pipelineDiagram(pipeline, 'json')` answers with. */
export interface Diagram {
  /** What the machine says of itself. */
  readonly title: string;
  /** The state jobs are born into. */
  readonly initial: string;
  /** Top-level states, in the machine's order. */
  readonly states: readonly DiagramState[];
  /** Every way from one state to another; what changes no state (progress) is left out. */
  readonly transitions: readonly DiagramTransition[];
}

/** One state. */
export interface DiagramState {
  /** The whole name, as a job's log has it: `active.resize`. */
  readonly id: string;
  /** The last part of it: `resize`. */
  readonly name: string;
  readonly kind: 'atomic' | 'compound' | 'final';
  /** Child states, in order. */
  readonly states: readonly DiagramState[];
}

/** One way from a state to another. */
export interface DiagramTransition {
  readonly from: string;
  readonly to: string;
  readonly event: string;
  /** The question that must be answered with yes first; `null` if there is none. */
  readonly guard: string | null;
}

/** Reads the diagram off a machine. */
export function diagramOf(machine: JobMachine): Diagram {
  const states = Object.values<AnyStateNode>(machine.root.states);
  return {
    title: machine.config.description ?? machine.id,
    initial: machine.root.initial.target.map(idOf).join(),
    states: states.map(toState),
    transitions: states.flatMap(waysFrom),
  };
}

/** Every state of a diagram, parents before their children. */
export function allStates(states: readonly DiagramState[]): readonly DiagramState[] {
  return states.flatMap((state) => [state, ...allStates(state.states)]);
}

function idOf(node: AnyStateNode): string {
  return node.path.join('.');
}

function toState(node: AnyStateNode): DiagramState {
  return {
    id: idOf(node),
    name: node.key,
    kind: node.type as DiagramState['kind'],
    states: Object.values<AnyStateNode>(node.states).map(toState),
  };
}

/** A state's own ways come before those of its children. */
function waysFrom(node: AnyStateNode): readonly DiagramTransition[] {
  const own = [...node.transitions.values()]
    .flat()
    .flatMap(({ eventType, target, guard }) =>
      (target ?? []).map((to) => ({ from: idOf(node), to: idOf(to), event: eventType, guard: guardName(guard) })),
    );
  return [...own, ...Object.values<AnyStateNode>(node.states).flatMap(waysFrom)];
}

function guardName(guard: unknown): string | null {
  if (guard === undefined) return null;
  return typeof guard === 'string' ? guard : ((guard as { type?: string }).type ?? null);
}
