/**
 * How fast a lane of threads is. Between the end of one phase and the start of the next lies a commit, which a phase of a
 * millisecond would notice: where phases are that short, jobs are claimed ahead, and commits gather what happens meanwhile.
 * Where they are long, nothing is claimed ahead: a job that waits here could be run by another process.
 */
import type { Capacity } from './capacity.ts';

/** Phases shorter than this, on average, are worth a lead. */
const SHORT_MS = 25;
/** How long an outcome whose slot is in use again may wait for others to be committed with. */
export const GATHER_MS = 25;
/** No more than this many jobs per thread are claimed ahead. */
const MOST_AHEAD = 32;
/** How much the latest phase counts. */
const WEIGHT = 0.2;

export class Pace {
  readonly #capacity: Capacity;
  readonly #averages = new Map<string, number>();

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  /** A phase took so long. */
  note(lane: string, ms: number): void {
    const before = this.#averages.get(lane) ?? SHORT_MS;
    const average = before + (ms - before) * WEIGHT;
    this.#averages.set(lane, average);
    // One job for each thread, and those it can get through while a commit gathers.
    const ahead = Math.min(MOST_AHEAD, 1 + Math.ceil(GATHER_MS / Math.max(average, 0.1)));
    this.#capacity.setLead(lane, average < SHORT_MS ? ahead * this.#capacity.limitOf(lane) : 0);
  }
}
