/**
 * What the statechart wishes for, as data. Its actions only describe an effect by appending it to the
 * step being judged; the supervisor performs it after the commit.
 */
import type { AnyActorRef } from 'xstate';
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

/** Where an actor's actions put the effects of the event it is handling now. */
const staged = new WeakMap<AnyActorRef, Effect[]>();

/** Gives `actor` a fresh list; its actions append to it while the next event is handled. */
export function collectEffects(actor: AnyActorRef): Effect[] {
  const effects: Effect[] = [];
  staged.set(actor, effects);
  return effects;
}

/** Called by the statechart's actions, and by nobody else. */
export function describeEffect(actor: AnyActorRef, effect: Effect): void {
  staged.get(actor)?.push(effect);
}
