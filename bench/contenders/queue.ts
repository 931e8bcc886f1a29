/**
 * What every job queue is made to look like, so that one scenario measures all of them. A contender is written
 * the way its own documentation recommends for speed; what it cannot do, it does not pretend.
 */
import type { Entry, Numbers, ServiceName, Trial } from '../harness/scenario.ts';

/** The same data for everybody: about 80 bytes of JSON. */
export interface Payload {
  readonly n: number;
  readonly to: string;
  readonly subject: string;
}

export function payload(n: number): Payload {
  return { n, to: `user-${n}@example.com`, subject: 'Your weekly report is ready' };
}

/** Jobs `from` up to, not including, `to`. */
export function payloads(from: number, to: number): Payload[] {
  return Array.from({ length: to - from }, (_, index) => payload(from + index));
}

export interface Work {
  /** Jobs in flight at a time, for contenders that can. */
  readonly concurrency: number;
  /** The handler: called once per job, and does nothing else. */
  onStart(n: number): void;
  /** The contender has stored the job's end and says so. */
  onDone(n: number): void;
}

export interface OpenQueue {
  /** Adds one job; settled when the contender says that it is stored. */
  add(data: Payload): Promise<unknown> | unknown;
  /** Adds many in the contender's own bulk call. */
  addBulk(list: readonly Payload[]): Promise<unknown> | unknown;
  /** Begins to run jobs. */
  work(work: Work): Promise<void> | void;
  /** Asks the contender's own store, for the verification. */
  count(): Promise<{ waiting: number; done: number }>;
  close(): Promise<void>;
}

export interface OpenOptions {
  /** Never runs jobs. */
  readonly producerOnly?: boolean;
  /** SQLite contenders: `:memory:` or a file of this name in the trial's folder. */
  readonly database?: string;
  readonly durability?: 'process-crash' | 'power-loss';
  /** Set up for a short wait rather than for throughput, where a contender has to choose. */
  readonly lowLatency?: boolean;
}

export interface Contender {
  readonly name: string;
  readonly peer: boolean;
  readonly service?: ServiceName;
  /** Are jobs started in the order they were added, with one process? */
  readonly order: 'in order' | 'any order';
  /** `false`: it has no event that comes after a completion is stored, so that its time cannot be told. Default `true`. */
  readonly tellsWhenStored?: boolean;
  /** Why it cannot run here; `null` if it can. */
  unavailable?(): string | null;
  open(trial: Trial, options?: OpenOptions): Promise<OpenQueue>;
}

/** Makes a scenario's entry of a contender. */
export function entryOf(
  contender: Contender,
  run: (contender: Contender, trial: Trial) => Promise<Numbers>,
  variant?: string,
): Entry {
  return {
    contender: contender.name,
    peer: contender.peer,
    run: (trial) => run(contender, trial),
    unavailable: () => contender.unavailable?.() ?? null,
    ...(variant === undefined ? {} : { variant }),
    ...(contender.service ? { service: contender.service } : {}),
  };
}

/** Everybody's bulk calls carry this many jobs. */
export const BULK = 1_000;

/** Adds jobs 0 to `jobs` in bulk. */
export async function fill(queue: OpenQueue, jobs: number): Promise<void> {
  for (let from = 0; from < jobs; from += BULK) await queue.addBulk(payloads(from, Math.min(from + BULK, jobs)));
}
