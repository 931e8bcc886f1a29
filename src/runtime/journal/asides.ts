/**
 * News that is no history (progress, webhooks), waiting for its place between two log entries. One piece per job and
 * name, the latest; a reader that stalls loses the oldest, which its job's record makes up for.
 */
import type { JobEventName } from '../../actors/vocabulary.ts';

/** A piece of news without a position. */
export interface Aside {
  readonly name: JobEventName;
  readonly jobId: string;
  /** Told after the entry at this position, and before the next. */
  readonly after: number;
  /** The event as JSON. */
  readonly data: string;
}

/** Characters kept per reader. The newest piece is kept whatever its size. */
const MOST_CHARACTERS = 64 * 1024;

export class Asides {
  /** In the order of telling. */
  readonly #waiting = new Map<string, Aside>();
  #characters = 0;

  add(aside: Aside): void {
    const key = `${aside.name} ${aside.jobId}`;
    this.#drop(key);
    this.#waiting.set(key, aside);
    this.#characters += aside.data.length;
    for (const oldest of this.#waiting.keys()) {
      if (this.#characters <= MOST_CHARACTERS || this.#waiting.size === 1) break;
      this.#drop(oldest);
    }
  }

  /** Takes what is to be told by a reader that has told everything up to `position`. */
  *take(position: number): Generator<Aside> {
    for (const [key, aside] of this.#waiting) {
      if (aside.after > position) return;
      this.#drop(key);
      yield aside;
    }
  }

  clear(): void {
    this.#waiting.clear();
    this.#characters = 0;
  }

  #drop(key: string): void {
    this.#characters -= this.#waiting.get(key)?.data.length ?? 0;
    this.#waiting.delete(key);
  }
}
