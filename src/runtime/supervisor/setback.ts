/** What follows a commit that failed: it leaves everything as if the turn had not happened, and what nobody waits for is tried again. */
import { showThrown } from '../../actors/failure.ts';
import type { JobActor } from '../../actors/job-actor.ts';
import type { Failure } from '../../actors/vocabulary.ts';
import { StoreUnavailableError } from '../errors.ts';
import type { Teller } from '../journal/teller.ts';
import type { Claim } from './capacity.ts';
import type { Inbox, Mail } from './inbox.ts';
import type { Message } from './turn.ts';
import type { TurnLoop } from './turn-loop.ts';

export interface SetbackOptions {
  readonly teller: Teller;
  /** The actors of the jobs this runtime holds, by id. */
  readonly live: Map<string, JobActor>;
  readonly inbox: Inbox;
  readonly loop: TurnLoop;
  /** Lets go of a claim. */
  drop(claim: Claim, pipeline: string): void;
}

const ENDS_A_PHASE: ReadonlySet<string> = new Set(['phaseCompleted', 'phaseFailed']);

export class Setback {
  readonly #o: SetbackOptions;

  constructor(options: SetbackOptions) {
    this.#o = options;
  }

  /** Actors go back to what was. Callers hear of it, unless it may be the fault of something else; what nobody waits for is kept. */
  forget(error: unknown, mail: Mail): void {
    const { live, teller } = this.#o;
    for (const { jobId } of mail.messages) {
      const actor = live.get(jobId);
      if (actor) live.set(jobId, actor.rolledBack());
    }
    const unattended = mail.messages.filter(({ caller }) => !caller);
    if (error instanceof StoreUnavailableError) this.#waitForStore(error, unattended, mail);
    else if (unattended.length === 0) this.#refuse(error, mail);
    else if (mail.isSuspect) {
      teller.report(error, 'a commit');
      for (const message of unattended) this.#giveUp(message, error);
    } else this.#suspect(unattended, mail);
  }

  #waitForStore(error: unknown, unattended: readonly Message[], mail: Mail): void {
    const { inbox, teller, loop } = this.#o;
    this.#refuse(error, mail);
    if (mail.isSuspect) inbox.suspect(unattended);
    else inbox.keep({ births: [], messages: unattended, logs: mail.logs });
    if (unattended.length > 0 && mail.births.length === 0) {
      teller.report(error, 'a commit, which will be tried again,');
    }
    loop.wakeLater();
  }

  #refuse(error: unknown, { births, messages }: Mail): void {
    for (const { reject } of births) reject(error);
    for (const { caller } of messages) caller?.reject(error);
    if (births.length === 0 && messages.length === 0) this.#o.teller.report(error, 'a commit');
  }

  /** Something in the turn cannot be stored. What nobody waits for gets a commit of its own, message by message; the rest is tried again without it. */
  #suspect(unattended: readonly Message[], { births, messages, logs }: Mail): void {
    const { inbox, loop } = this.#o;
    inbox.suspect(unattended);
    inbox.keep({ births, messages: messages.filter(({ caller }) => caller), logs });
    loop.wake();
  }

  /** A job must not stay active because what came of its phase cannot be stored: it fails, or, if not even that can be stored, is left to its lease. */
  #giveUp({ jobId, event, fence }: Message, error: unknown): void {
    const { live, inbox, loop, drop } = this.#o;
    const job = live.get(jobId)?.job;
    if (!job || fence !== job.fence || !ENDS_A_PHASE.has(event.type)) return;
    const failure = notStored(error);
    if (event.type === 'phaseFailed' && event.failure.code === failure.code) {
      drop(job, job.pipeline);
      return;
    }
    const { at } = event;
    const failed = { type: 'phaseFailed', at, failure, disposition: 'fatal', retryAt: at, usage: null } as const;
    inbox.add({ jobId, fence, event: failed });
    loop.wake();
  }
}

function notStored(error: unknown): Failure {
  const message = `What came of the phase could not be stored: ${showThrown((error as Error).message)}`;
  return { name: 'NotStoredError', code: 'not_stored', message };
}
