/** What follows a commit: whoever waited is answered, the world is told, wishes are performed, and the live jobs are those we still hold. */
import type { JobActor } from '../../actors/job-actor.ts';
import type { StopReason } from '../../actors/vocabulary.ts';
import { ConflictError } from '../errors.ts';
import type { Teller } from '../journal/teller.ts';
import type { Committed } from '../store/port.ts';
import { type Booking, type Capacity, type Claim, claimKey } from './capacity.ts';
import type { BirthRequest } from './inbox.ts';
import type { Performer } from './performer.ts';
import type { Passage } from './turn.ts';

export interface AftermathOptions {
  readonly teller: Teller;
  readonly performer: Performer;
  readonly capacity: Capacity;
  /** Who we are: only jobs we hold are live. */
  readonly owner: string;
  /** A webhook is owed. */
  onOwed(): void;
}

export class Aftermath {
  readonly #o: AftermathOptions;
  readonly #live: Map<string, JobActor>;

  /** @param live the actors of the jobs this runtime holds, by id */
  constructor(options: AftermathOptions, live: Map<string, JobActor>) {
    this.#o = options;
    this.#live = live;
  }

  /** Births are resolved, or refused because an id is taken. */
  answerBirths(births: readonly BirthRequest[], committed: Committed): void {
    for (const [index, { group, resolve, reject }] of births.entries()) {
      const taken = committed.takenIds[index]?.[0];
      if (taken === undefined) {
        resolve();
        for (const { job, transition } of group.births) this.#o.teller.transition(job, transition);
      } else {
        const problem = `There is, or was, a job with the id "${taken}" already; nothing was enqueued.`;
        reject(new ConflictError(taken, null, 'enqueue', problem));
      }
    }
  }

  /** The passage is committed: remember or forget the actor, tell, and perform. */
  conclude({ actor, steps, messages, change }: Passage, booking: Booking): void {
    const { teller, performer, capacity, owner, onOwed } = this.#o;
    const { job } = actor;
    actor.settle();
    // Quiet news may be for a job that another runtime holds, which does not make it ours.
    if (job.status === 'active' && job.leaseOwner === owner) this.#live.set(job.id, actor);
    else this.#live.delete(job.id);
    if (change.deliveries.length > 0) onOwed();
    for (const [index, step] of steps.entries()) {
      messages[index]?.caller?.resolve(step.job);
      if (step.transition) teller.transition(step.job, step.transition);
      else if (messages[index]?.event.type === 'progressed') teller.progress(step.job);
      for (const effect of step.effects) {
        if (effect.type === 'stopPhase') performer.stop(job, effect.reason, job.reason);
      }
    }
    if (job.status === 'active') {
      if (!wantsRun(steps)) return;
      if (booking.hasSlot(claimKey(job))) {
        performer.run(job);
        booking.spend(claimKey(job));
      } else {
        performer.runWhenRoom(job, isClaim(steps));
      }
      return;
    }
    performer.rest(job);
    if (!performer.isRunning(job)) capacity.letGo(job.pipeline, claimKey(job));
  }

  /** The claim is not ours any more: forget the actor and tell the handler why. */
  drop(claim: Claim, pipeline: string, reason: StopReason): void {
    const { performer, capacity } = this.#o;
    const lost = this.#live.get(claim.id);
    this.#live.delete(claim.id);
    if (lost) performer.rest(lost.job);
    performer.stop(claim, reason);
    if (!performer.isRunning(claim)) capacity.letGo(pipeline, claimKey(claim));
  }
}

/** Has the job just been claimed? */
function isClaim(steps: Passage['steps']): boolean {
  return steps.some(({ transition }) => transition?.event === 'claimed');
}

/** Did one of the steps wish for the job's phase to run? */
export function wantsRun(steps: Passage['steps']): boolean {
  return steps.some(({ effects }) => effects.some(({ type }) => type === 'runPhase'));
}
