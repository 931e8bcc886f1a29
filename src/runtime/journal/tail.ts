/**
 * The newest end of the log, as this process told it: the fast path of readers that keep up. Shared by all of them and
 * small; whoever falls behind it reads the log itself.
 */
import type { JobRecord, TransitionRecord } from '../../actors/vocabulary.ts';

/** A log entry on its way to readers. */
export interface Told {
  readonly transition: TransitionRecord;
  /** {@link factsOf} it with the record as committed; `null` if that is not at hand and must be read. */
  readonly facts: string | null;
}

/** What all events of a log entry have in common, as JSON without braces. */
export function factsOf(transition: TransitionRecord, job: JobRecord | null): string {
  return `"job":${JSON.stringify(job)},"transition":${JSON.stringify(transition)}`;
}

/** Characters of records kept, and entries: whatever is reached first. */
const MOST = { characters: 512 * 1024, entries: 1_000 } as const;

export class Tail {
  readonly #entries = new Map<number, Told>();
  #characters = 0;
  #newest = 0;

  /** The newest position this process has told (or seen) so far. */
  get newest(): number {
    return this.#newest;
  }

  /** Somebody has seen the log reach this position. */
  saw(position: number): void {
    this.#newest = Math.max(this.#newest, position);
  }

  /**
   * Written down at once, for all readers: a record that is kept would keep its data, of unknown size, alive. `job` is
   * `null` if no reader wants it.
   */
  add(transition: TransitionRecord, job: JobRecord | null): void {
    const facts = job && factsOf(transition, job);
    this.#entries.set(transition.position, { transition, facts });
    this.#characters += facts?.length ?? 0;
    this.saw(transition.position);
    for (const [position, { facts: oldest }] of this.#entries) {
      if (this.#characters <= MOST.characters && this.#entries.size <= MOST.entries) break;
      this.#entries.delete(position);
      this.#characters -= oldest?.length ?? 0;
    }
  }

  at(position: number): Told | undefined {
    return this.#entries.get(position);
  }

  /** The unbroken run of entries that begins right after a position. */
  *after(position: number): Generator<Told> {
    for (let next = position + 1; ; next++) {
      const told = this.#entries.get(next);
      if (!told) return;
      yield told;
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#characters = 0;
  }
}
