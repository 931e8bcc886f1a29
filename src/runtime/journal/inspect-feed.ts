/**
 * Feeds an XState inspector with committed transitions, and with nothing else. It hears of them from the Teller, after listeners
 * have. What the messages look like is told in `actors/inspection.ts`.
 */
import {
  actorMessage,
  type InspectedActor,
  type InspectionEvent,
  jobActor,
  supervisorActor,
  transitionMessages,
} from '../../actors/inspection.ts';
import type { JobMachine } from '../../actors/job-machine.ts';
import type { JobRecord, TransitionRecord } from '../../actors/vocabulary.ts';
import { InvalidInputError } from '../errors.ts';
import { requireFunction, requireOptions, show } from '../options.ts';

/** What XState takes as `inspect`: a function, or an observer such as `createWebSocketInspector().inspect`. */
export type InspectObserver =
  | ((event: InspectionEvent) => void)
  | { readonly next?: ((event: InspectionEvent) => void) | undefined };

/** An observer, and which jobs it is shown. */
export interface InspectOptions {
  readonly observer: InspectObserver;
  /** Which jobs to show. Default: all. Asked until it says yes; a job once shown is shown to its end. */
  readonly jobs?: (job: JobRecord) => boolean;
  /** The share of jobs to show, 0 to 1, chosen by id: a job is shown whole or not at all. Default 1. */
  readonly sample?: number;
}

/** The option `inspect` of `new JobQueue(…)`. */
export type InspectOption = InspectObserver | InspectOptions;

/** So many introduced jobs are remembered; one that was forgotten is simply introduced again. */
const REMEMBERED = 1_000;

/** Nothing happens to a job after this, unless somebody wants it to. */
const AT_ITS_END: ReadonlySet<string> = new Set(['completed', 'failed', 'cancelled', 'stale', 'deleted']);

export class InspectFeed {
  readonly #next: (event: InspectionEvent) => void;
  readonly #wanted: (job: JobRecord) => boolean;
  readonly #machineOf: (job: JobRecord) => JobMachine;
  readonly #root: InspectedActor;
  readonly #introduced = new Set<string>();
  #begun = false;

  /** @param rootId tells this queue's actors from those of other queues in the same inspector */
  constructor(option: InspectOption, rootId: string, machineOf: (job: JobRecord) => JobMachine) {
    const { observer, jobs = () => true, sample = 1 } = toOptions(option);
    this.#next = typeof observer === 'function' ? observer : (event) => observer.next?.(event);
    this.#wanted = (job) => (sample >= 1 || shareOf(job.id) < sample) && jobs(job);
    this.#machineOf = machineOf;
    this.#root = supervisorActor(rootId);
  }

  /** Shows one committed transition. */
  transition(job: JobRecord, transition: TransitionRecord): void {
    if (!this.#introduced.has(job.id) && !this.#wanted(job)) return;
    const actor = jobActor(this.#root, this.#machineOf(job), job, transition.to);
    if (!this.#introduced.has(job.id)) this.#introduce(actor);
    for (const message of transitionMessages(actor, transition)) this.#next(message);
    if (AT_ITS_END.has(transition.to)) this.#introduced.delete(job.id);
  }

  #introduce(actor: InspectedActor): void {
    if (!this.#begun) this.#next(actorMessage(this.#root));
    this.#begun = true;
    this.#next(actorMessage(actor));
    this.#introduced.add(actor.id);
    const [oldest] = this.#introduced;
    if (this.#introduced.size > REMEMBERED && oldest !== undefined) this.#introduced.delete(oldest);
  }
}

/** Checks the option `inspect`. */
export function requireInspect(option: unknown, field: string): void {
  if (option === undefined || isObserver(option)) return;
  if (typeof option !== 'object' || option === null || !('observer' in option)) {
    throw new InvalidInputError(
      field,
      `is ${show(option)}, but must be a function, an observer with next(event) such as createWebSocketInspector().inspect, or { observer, jobs?, sample? }.`,
    );
  }
  const { observer, jobs, sample = 0 } = option as Partial<InspectOptions>;
  requireOptions(option, field, ['observer', 'jobs', 'sample']);
  if (!isObserver(observer)) {
    throw new InvalidInputError(`${field}.observer`, 'must be a function or an observer with next(event).');
  }
  requireFunction(jobs, `${field}.jobs`);
  if (typeof sample !== 'number' || !(sample >= 0 && sample <= 1)) {
    throw new InvalidInputError(`${field}.sample`, 'is a share from 0 to 1.');
  }
}

function isObserver(value: unknown): value is InspectObserver {
  return typeof value === 'function' || typeof (Object(value) as { next?: unknown }).next === 'function';
}

function toOptions(option: InspectOption): InspectOptions {
  return isObserver(option) ? { observer: option } : (option as InspectOptions);
}

/** Where an id falls between 0 and 1 (FNV-1a): the same in every process, so that a job is never shown in part. */
function shareOf(id: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < id.length; index++) hash = Math.imul(hash ^ id.charCodeAt(index), 0x01000193);
  return (hash >>> 0) / 2 ** 32;
}
