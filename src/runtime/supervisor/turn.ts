/**
 * One turn of the supervisor: what is judged now and committed together. Nothing in here is told to anybody;
 * the supervisor does that after the commit, or forgets the turn if there was none.
 */
import type { Blob } from '../../actors/blobs.ts';
import { JobActor, type StagedTransition, type Step } from '../../actors/job-actor.ts';
import type { JobEvent } from '../../actors/job-events.ts';
import { stateOf } from '../../actors/job-logic.ts';
import type { JobRecord } from '../../actors/vocabulary.ts';
import { ConflictError } from '../errors.ts';
import type { DeliveryClaim, NewDelivery } from '../store/delivery.ts';
import type { Change } from '../store/port.ts';
import type { Charts } from './charts.ts';
import type { Owed } from './owed.ts';

/** Something that happened to a job, on its way to the job's actor. */
export interface Message {
  readonly jobId: string;
  event: JobEvent;
  /** Only meant for the holder of this claim; silently dropped when the job has moved on (law 3 refuses late losers). */
  readonly fence?: number;
  /** Binary values of the result the event brings. */
  readonly blobs?: readonly Blob[];
  /** Who asked, if somebody did. Without one the message is retried until it is committed. */
  readonly caller?: Caller;
  /** The delivery whose arrival the job is told of: it ends in the same commit. */
  readonly arrived?: DeliveryClaim;
  /** Told when a turn takes the message up, so that later news starts a message of its own. */
  onTaken?(): void;
}

/** The two ends of an API call's promise. */
export interface Caller {
  resolve(job: JobRecord): void;
  reject(error: unknown): void;
}

/** What one job went through in this turn. */
export interface Passage {
  readonly actor: JobActor;
  readonly steps: readonly Step[];
  readonly change: Change;
  /** The accepted messages. */
  readonly messages: readonly Message[];
}

/** Events that set a job going, which needs phases that exist. */
const SETS_GOING: ReadonlySet<string> = new Set(['claimed', 'retry', 'resume', 'blockersClosed']);

export class Turn {
  /** In the order they are written. A job may pass twice: retried by hand, say, and then claimed. */
  readonly passages: Passage[] = [];
  /** Refusals are told after the commit too: what they speak of may not have happened. */
  readonly refusals: { readonly caller: Caller; readonly error: unknown }[] = [];
  readonly #charts: Charts;
  readonly #owed: Owed;

  constructor(charts: Charts, owed: Owed) {
    this.#charts = charts;
    this.#owed = owed;
  }

  /** Judges messages for a live job. */
  judgeLive(actor: JobActor, messages: readonly Message[]): Change | null {
    return this.#pass(actor, actor.job, messages, true);
  }

  /** Activates the job's actor and judges. */
  judgeStored(stored: JobRecord, messages: readonly Message[]): Change | null {
    const going = messages.some(({ event }) => SETS_GOING.has(event.type)) ? this.#charts.toRun(stored) : null;
    const { chart, job } = going ?? this.#charts.asBorn(stored);
    return this.#pass(new JobActor(chart, job), stored, messages, going !== null);
  }

  /** Can this program run the job's phases? */
  canRun(job: JobRecord): boolean {
    return this.#charts.toRun(job) !== null;
  }

  #pass(actor: JobActor, before: JobRecord, messages: readonly Message[], canRun: boolean): Change | null {
    const steps: Step[] = [];
    const accepted: Message[] = [];
    const transitions: StagedTransition[] = [];
    const newBlobs: { phase: string; blobs: readonly Blob[] }[] = [];
    const deliveries: NewDelivery[] = [];
    const arrived: DeliveryClaim[] = [];
    for (const message of messages) {
      const meant = message.fence === undefined || message.fence === actor.job.fence;
      const possible = canRun || !SETS_GOING.has(message.event.type);
      const step = meant && possible ? actor.send(message.event) : null;
      if (!step) {
        const { caller, event } = message;
        if (caller) this.refusals.push({ caller, error: refusal(actor.job, event.type, possible) });
        continue;
      }
      steps.push(step);
      accepted.push(message);
      const { job, transition } = step;
      const { blobs = [] } = message;
      if (message.arrived) arrived.push(message.arrived);
      if (!transition) continue;
      transitions.push(transition);
      deliveries.push(...this.#owed(job, transition));
      if (blobs.length > 0 && transition.phase) newBlobs.push({ phase: transition.phase, blobs });
    }
    if (steps.length === 0) return null;
    const { job } = actor;
    const newResults = namesIn(job, (name) => job.phaseResults[name] !== before.phaseResults[name]);
    const goneResults = namesIn(before, (name) => !(name in job.phaseResults));
    const change: Change = {
      job,
      expected: before,
      transitions,
      newResults,
      newBlobs,
      goneResults,
      deliveries,
      arrived,
    };
    this.passages.push({ actor, steps, change, messages: accepted });
    return change;
  }
}

function refusal(job: JobRecord, event: string, possible: boolean): ConflictError {
  const message = possible
    ? undefined
    : `Job "${job.id}" was born under the phases [${job.phases.map((phase) => phase.name).join(', ')}], which pipeline "${job.pipeline}" ` +
      `does not have (any more), so "${event}" is not possible.`;
  return new ConflictError(job.id, stateOf(job), event, message);
}

function namesIn(job: JobRecord, condition: (name: string) => boolean): readonly string[] {
  return Object.keys(job.phaseResults).filter(condition);
}
