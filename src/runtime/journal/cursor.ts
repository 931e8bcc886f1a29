/** Reads the log onwards from a position: from the tail while it reaches there, from the store otherwise. Remembers nothing itself. */
import type { Store } from '../store/port.ts';
import { factsOf, type Tail, type Told } from './tail.ts';

/** Log entries per look at the store. They are small: the jobs' records are read one at a time. */
const PAGE = 64;

/** What becomes of a reader that has everything up to some position: it can go on without a hole, or why not. */
export type Standing = 'good' | 'pruned' | 'unknown';

export class LogCursor {
  readonly #store: Pick<Store, 'readLog' | 'logRange' | 'getJob'>;
  readonly #tail: Tail;
  /** What is after it happens while the reader is there. What came before is history, even if the tail still has it. */
  #liveAfter = Number.POSITIVE_INFINITY;

  constructor(store: Pick<Store, 'readLog' | 'logRange' | 'getJob'>, tail: Tail) {
    this.#store = store;
    this.#tail = tail;
  }

  /** The reader is there from now on; answers with the newest position. */
  async open(): Promise<number> {
    const { newest } = await this.#store.logRange();
    this.#liveAfter = newest;
    // What nobody listened to is not in the tail; asides of today must not be told before yesterday's entries.
    this.#tail.saw(newest);
    return newest;
  }

  async standing(position: number): Promise<Standing> {
    const { oldest, newest } = await this.#store.logRange();
    if (position > newest) return 'unknown';
    return position < oldest - 1 ? 'pruned' : 'good';
  }

  /**
   * The next entries in the order of the log, whoever committed them; none if there are none yet. Only the very next
   * position is taken from the tail: what this process told must not overtake what another committed before.
   */
  async next(position: number): Promise<Iterable<Told> | 'pruned'> {
    if (this.#live(position + 1)) return this.#tail.after(position);
    const page = await this.#store.readLog(position, PAGE);
    // The log has no holes: if the next entry is not there, it is yet to come or gone.
    if (page[0]?.position !== position + 1 && (await this.standing(position)) === 'pruned') return 'pruned';
    return page.map((transition) => this.#live(transition.position) ?? { transition, facts: null });
  }

  /** The entry's facts with the record as committed if that is at hand, else as it is now, `null` if the job is gone. */
  async facts({ transition, facts }: Told): Promise<string> {
    return facts ?? factsOf(transition, (await this.#store.getJob(transition.jobId)) ?? null);
  }

  #live(position: number): Told | undefined {
    return position > this.#liveAfter ? this.#tail.at(position) : undefined;
  }
}
