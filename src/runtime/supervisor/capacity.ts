/**
 * How much may run at a time. A lane's slot belongs to a running handler, from before it starts until it has
 * really returned; a pipeline's place belongs to a held job. Jobs that move on to a full lane wait ahead of new claims;
 * where phases are short, a few claims wait there too (`lead`), so that no slot stands empty during a commit.
 */

/** Limits of lanes and pipelines; a pipeline without one has none of its own. */
export interface CapacityLimits {
  readonly lanes: ReadonlyMap<string, number>;
  readonly pipelines: ReadonlyMap<string, number>;
}

export class Capacity {
  readonly #limits: CapacityLimits;
  readonly #used = new Map<string, number>();
  readonly #waiting = new Map<string, (() => void)[]>();
  readonly #leads = new Map<string, number>();
  readonly #held = new Map<string, Set<string>>();

  constructor(limits: CapacityLimits) {
    this.#limits = limits;
  }

  /** How many more jobs may be claimed for a lane: its free slots, and its lead. */
  laneRoom(lane: string): number {
    return Math.max(0, this.#freeSlots(lane) + (this.#leads.get(lane) ?? 0));
  }

  /** Is the line for a lane so long that nothing more should be set going which will join it? Its jobs are held, and live in memory. */
  isCrowded(lane: string): boolean {
    const waiting = this.#waiting.get(lane)?.length ?? 0;
    return waiting >= this.limitOf(lane) + (this.#leads.get(lane) ?? 0);
  }

  /** Would a newcomer to the lane have to wait? */
  isFull(lane: string): boolean {
    return this.#freeSlots(lane) <= 0;
  }

  /** How many slots of a lane there are. */
  limitOf(lane: string): number {
    return this.#limits.lanes.get(lane) ?? 0;
  }

  /** How many jobs may be claimed for a lane before there is a slot for them. */
  setLead(lane: string, lead: number): void {
    this.#leads.set(lane, lead);
  }

  /** Negative when more jobs wait than there are slots. */
  #freeSlots(lane: string): number {
    const waiting = this.#waiting.get(lane)?.length ?? 0;
    return this.limitOf(lane) - (this.#used.get(lane) ?? 0) - waiting;
  }

  /** How many more jobs of a pipeline may be held. */
  pipelineRoom(pipeline: string): number {
    const limit = this.#limits.pipelines.get(pipeline) ?? Number.POSITIVE_INFINITY;
    return Math.max(0, limit - (this.#held.get(pipeline)?.size ?? 0));
  }

  /** Takes a slot if there is one. */
  take(lane: string): boolean {
    if (this.#freeSlots(lane) <= 0) return false;
    this.#used.set(lane, (this.#used.get(lane) ?? 0) + 1);
    return true;
  }

  /** Gives a slot back, or hands it to whoever has waited longest; answers whether somebody had. */
  free(lane: string): boolean {
    const next = this.#waiting.get(lane)?.shift();
    if (next) next();
    else this.#used.set(lane, (this.#used.get(lane) ?? 0) - 1);
    return next !== undefined;
  }

  /** Calls back with a slot already taken, once one is free. Answers with a way out of the line. */
  wait(lane: string, ready: () => void): () => void {
    const line = this.#waiting.get(lane) ?? [];
    this.#waiting.set(lane, line);
    line.push(ready);
    return () => {
      const place = line.indexOf(ready);
      if (place >= 0) line.splice(place, 1);
    };
  }

  /** Counts a held job against its pipeline. */
  hold(pipeline: string, key: string): void {
    const held = this.#held.get(pipeline) ?? new Set();
    this.#held.set(pipeline, held.add(key));
  }

  letGo(pipeline: string, key: string): void {
    this.#held.get(pipeline)?.delete(key);
  }
}

/** The room one turn takes and gives before its commit; undone if there is none. */
export class Booking {
  readonly #capacity: Capacity;
  readonly #slots = new Map<string, string>();
  readonly #taken = new Map<string, string>();
  readonly #given = new Map<string, string>();

  constructor(capacity: Capacity) {
    this.#capacity = capacity;
  }

  /** Takes a slot for a claim that goes on to its next phase, if there is one. */
  takeSlot(key: string, lane: string): void {
    if (this.#capacity.take(lane)) this.#slots.set(key, lane);
  }

  /** Takes a place for a new claim, and a slot if there is one; else it waits for its slot. */
  takeAll(key: string, lane: string, pipeline: string): void {
    this.takeSlot(key, lane);
    this.#capacity.hold(pipeline, key);
    this.#taken.set(key, pipeline);
  }

  /** Gives up the place of a claim that ends with this turn, so that the turn's own claims can have it. */
  givePlace(key: string, pipeline: string): void {
    this.#capacity.letGo(pipeline, key);
    this.#given.set(key, pipeline);
  }

  hasSlot(key: string): boolean {
    return this.#slots.has(key);
  }

  /** The claim's handler has been started: the slot is its own now. */
  spend(key: string): void {
    this.#slots.delete(key);
  }

  /** The turn is over: slots nobody was started in are given back. Answers whether there were any. */
  close(): boolean {
    for (const lane of this.#slots.values()) this.#capacity.free(lane);
    return this.#slots.size > 0;
  }

  /** The turn never happened. */
  undo(): void {
    this.close();
    for (const [key, pipeline] of this.#taken) this.#capacity.letGo(pipeline, key);
    for (const [key, pipeline] of this.#given) this.#capacity.hold(pipeline, key);
  }
}

/** One claim of one job: slots, places and runs belong to it, not to the job. */
export interface Claim {
  readonly id: string;
  readonly fence: number;
}

/** A claim as a key. */
export function claimKey({ id, fence }: Claim): string {
  return `${fence}#${id}`;
}
