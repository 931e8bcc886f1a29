/**
 * The only room that commits transitions. Everything that happens within one turn of the event loop (births,
 * messages to jobs, claims for free slots) is judged by the jobs' actors and committed in one transaction; only
 * then are effects performed and listeners told. A turn that cannot be committed never happened.
 */

import type { JobActor, Newborn } from '../../actors/job-actor.ts';
import type { JobEvent } from '../../actors/job-events.ts';
import type { JobRecord, StopReason } from '../../actors/vocabulary.ts';
import { NotFoundError } from '../errors.ts';
import { type Committed, type JobLogLine, lossOf, type Store } from '../store/port.ts';
import { Aftermath, type AftermathOptions, wantsRun } from './aftermath.ts';
import { Booking, type Claim, claimKey } from './capacity.ts';
import type { Charts } from './charts.ts';
import type { Dispatcher } from './dispatcher.ts';
import { Inbox } from './inbox.ts';
import type { Owed } from './owed.ts';
import { Setback } from './setback.ts';
import { type Message, type Passage, Turn } from './turn.ts';
import { TurnLoop } from './turn-loop.ts';

/** Named moments at which a test may stop the world. */
export type TurnPoint = 'before-commit' | 'after-commit' | 'after-tell';

export interface SupervisorOptions extends AftermathOptions {
  readonly store: Store;
  readonly charts: Charts;
  readonly dispatcher: Dispatcher;
  /** Which webhooks a transition owes. */
  readonly owed: Owed;
  /** For tests: called at each {@link TurnPoint}. */
  readonly onPoint?: ((point: TurnPoint) => void) | undefined;
}

export class Supervisor {
  readonly #o: SupervisorOptions;
  readonly #live = new Map<string, JobActor>();
  readonly #inbox = new Inbox();
  readonly #loop: TurnLoop;
  readonly #aftermath: Aftermath;
  readonly #setback: Setback;

  constructor(options: SupervisorOptions) {
    this.#o = options;
    this.#aftermath = new Aftermath(options, this.#live);
    this.#loop = new TurnLoop(
      () => this.#turn(),
      (error) => options.teller.report(error, 'telling what was committed'),
    );
    this.#setback = new Setback({
      teller: options.teller,
      live: this.#live,
      inbox: this.#inbox,
      loop: this.#loop,
      drop: (claim, pipeline) => this.#aftermath.drop(claim, pipeline, 'abandoned'),
    });
  }

  /** Brings jobs into the world, all or none. */
  bear(births: readonly Newborn[], chosenIds: readonly string[]): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#inbox.addBirth({ group: { births, chosenIds }, resolve, reject });
      this.wake();
    });
  }

  /** Sends an event to a job and waits for its commit. */
  tell(jobId: string, event: JobEvent, fence?: number): Promise<JobRecord> {
    return new Promise((resolve, reject) => {
      const caller = { resolve, reject };
      this.post(fence === undefined ? { jobId, event, caller } : { jobId, event, fence, caller });
    });
  }

  /** Sends an event to a job; if nobody waits for it, it is retried until it is committed or meaningless. */
  post(message: Message): void {
    this.#inbox.add(message);
    this.wake();
  }

  /** The same for news that may wait a moment for others, to be committed with them. */
  postWithin(message: Message, ms: number): void {
    this.#inbox.add(message);
    this.#loop.wakeWithin(ms);
  }

  /** Keeps a line a handler wrote; it is committed with the next turn. */
  log(line: JobLogLine): void {
    this.#inbox.addLog(line);
    this.wake();
  }

  /** The claims this runtime believes it holds. */
  liveClaims(): readonly Claim[] {
    return [...this.#live.values()].map(({ job: { id, fence } }) => ({ id, fence }));
  }

  /** Somebody else may have moved the job: read it again, and stop the handler if so. */
  async checkClaim(claim: Claim): Promise<void> {
    const job = await this.#o.store.getJob(claim.id);
    const mine = this.#live.get(claim.id);
    if (!mine || mine.job.fence !== claim.fence) return;
    if (job?.status === 'active' && job.fence === claim.fence) return;
    this.#aftermath.drop(claim, mine.job.pipeline, lossOf(job, claim.fence));
    this.wake();
  }

  /** Asks for a turn: there may be something to do. */
  wake(): void {
    this.#loop.wake();
  }

  /** Resolves when nothing is staged or under way. */
  settled(): Promise<void> {
    return this.#loop.settled();
  }

  /** No more turns; what is still staged is forgotten. */
  close(): void {
    this.#loop.close();
  }

  async #turn(): Promise<void> {
    const { store, charts, capacity, dispatcher, onPoint } = this.#o;
    const mail = this.#inbox.take();
    if (mail.isSuspect) this.wake();
    const byJob = groupByJob(mail.messages);
    const turn = new Turn(charts, this.#o.owed);
    const booking = new Booking(capacity);
    let committed: Committed;
    try {
      const load = this.#judgeLive(turn, byJob);
      const changes = turn.passages.map(({ change }) => change);
      for (const passage of turn.passages) this.#book(passage, booking);
      onPoint?.('before-commit');
      committed = await store.commit({
        births: mail.births.map(({ group }) => group),
        changes,
        load,
        judge: (job) => turn.judgeStored(job, byJob.get(job.id) ?? []),
        claim: mail.isSuspect ? null : dispatcher.request(turn, booking),
        logs: mail.logs,
      });
    } catch (error) {
      booking.undo();
      this.#setback.forget(error, mail);
      return;
    }
    this.#loop.calm();
    onPoint?.('after-commit');
    if (!mail.isSuspect) dispatcher.dueAt(committed.nextDueAt);
    this.#aftermath.answerBirths(mail.births, committed);
    for (const passage of turn.passages) {
      const lost = committed.stale.get(passage.change);
      try {
        if (lost) this.#lose(passage, lost);
        else this.#aftermath.conclude(passage, booking);
      } catch (error) {
        // What was committed for the other jobs of the turn must still be told and performed.
        this.#o.teller.report(error, `performing what was committed for job "${passage.actor.job.id}"`);
      }
    }
    // A job that was taken from us meanwhile has left its slot unused.
    if (booking.close()) this.wake();
    for (const { caller, error } of turn.refusals) caller.reject(error);
    for (const id of committed.missing) {
      for (const { caller } of byJob.get(id) ?? []) caller?.reject(new NotFoundError(id));
    }
    onPoint?.('after-tell');
  }

  /** Live jobs are judged from memory; answers with the ids of the others, to be judged inside the transaction. */
  #judgeLive(turn: Turn, byJob: ReadonlyMap<string, readonly Message[]>): readonly string[] {
    const load: string[] = [];
    for (const [id, messages] of byJob) {
      const actor = this.#live.get(id);
      if (actor) turn.judgeLive(actor, messages);
      else load.push(id);
    }
    return load;
  }

  /** A live job that goes on takes its next slot before new claims can; one that has ended leaves its place to them. */
  #book({ actor: { job }, steps }: Passage, booking: Booking): void {
    const { performer } = this.#o;
    if (job.status !== 'active') {
      if (!performer.isRunning(job)) booking.givePlace(claimKey(job), job.pipeline);
    } else if (wantsRun(steps)) {
      booking.takeSlot(claimKey(job), performer.laneFor(job));
    }
  }

  /** Somebody else has moved the job: ask the row again on behalf of callers. */
  #lose({ change, messages }: Passage, reason: StopReason): void {
    this.#aftermath.drop({ id: change.job.id, fence: change.expected.fence }, change.job.pipeline, reason);
    for (const message of messages) if (message.caller) this.post(message);
  }
}

function groupByJob(messages: readonly Message[]): Map<string, Message[]> {
  const groups = new Map<string, Message[]>();
  for (const message of messages) {
    const group = groups.get(message.jobId);
    if (group) group.push(message);
    else groups.set(message.jobId, [message]);
  }
  return groups;
}
