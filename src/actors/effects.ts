/**
 * What the statechart wishes for, as data. Its actions are never executed: the job's actor takes their names and parameters down,
 * and the supervisor performs them after the commit.
 */
import type { ExecutableActionObject } from 'xstate';
import type { StopReason } from './vocabulary.ts';

/** Run the job's current phase. */
export interface RunPhase {
  readonly type: 'runPhase';
}

/** Stop the handler that is running for this job, if there is one. */
export interface StopPhase {
  readonly type: 'stopPhase';
  readonly reason: StopReason;
}

/** Everything the statechart may wish for. */
export type Effect = RunPhase | StopPhase;

const RUN: RunPhase = { type: 'runPhase' };

/** An action of the statechart as the effect it stands for. */
export function effectOf({ type, params }: ExecutableActionObject): Effect {
  if (type === 'runPhase') return RUN;
  if (type === 'stopPhase') return { type, reason: (params as { reason: StopReason }).reason };
  throw new Error(`The statechart has an action "${type}" that nobody performs.`);
}
