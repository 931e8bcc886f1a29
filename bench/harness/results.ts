/**
 * The numbers of one scenario, round by round. Ratios are taken between trials of the same round, which ran
 * minutes apart at most, and only then is the median taken: a slow spell of the machine hits both sides.
 */
import type { Numbers } from './scenario.ts';
import { median, spread } from './statistics.ts';

export class Results {
  readonly #rounds: Map<string, Map<string, number>>[] = [];

  /** Notes what a contender measured in a round. */
  add(round: number, contender: string, numbers: Numbers): void {
    this.#rounds[round] ??= new Map();
    const known = this.#rounds[round].get(contender) ?? new Map<string, number>();
    for (const [name, value] of Object.entries(numbers)) {
      if (known.has(name)) throw new Error(`Two entries of "${contender}" report "${name}".`);
      if (!Number.isFinite(value)) throw new Error(`"${contender}" reports ${value} as "${name}".`);
      known.set(name, value);
    }
    this.#rounds[round].set(contender, known);
  }

  get contenders(): readonly string[] {
    return [...new Set(this.#rounds.flatMap((round) => [...round.keys()]))];
  }

  /** The names a contender reported, in order of their first appearance. */
  names(contender: string): readonly string[] {
    return [...new Set(this.#rounds.flatMap((round) => [...(round.get(contender)?.keys() ?? [])]))];
  }

  /** Every round's value. */
  values(contender: string, name: string): readonly number[] {
    return this.#rounds.flatMap((round) => round.get(contender)?.get(name) ?? []);
  }

  /** Medians over the rounds. */
  medians(contender: string): Record<string, number> {
    return Object.fromEntries(this.names(contender).map((name) => [name, median(this.values(contender, name))]));
  }

  /** Spreads over the rounds, as shares of the median. */
  spreads(contender: string): Record<string, number> {
    return Object.fromEntries(this.names(contender).map((name) => [name, spread(this.values(contender, name))]));
  }

  /** The median of `a / b` within each round; `undefined` if no round has both. Each side is `[contender, name]`. */
  quotient(a: readonly [string, string], b: readonly [string, string]): number | undefined {
    const quotients = this.#rounds.flatMap((round) => {
      const [above, below] = [round.get(a[0])?.get(a[1]), round.get(b[0])?.get(b[1])];
      return above === undefined || below === undefined || below === 0 ? [] : [above / below];
    });
    return quotients.length === 0 ? undefined : median(quotients);
  }

  /** How far ahead Millrace is in a speed: its number over the contender's of the same or another name. */
  ahead(contender: string, name: string, theirs = name): number | undefined {
    return this.quotient(['millrace', name], [contender, theirs]);
  }

  /** How far ahead Millrace is in a cost, where less is better. */
  cheaper(contender: string, name: string, theirs = name): number | undefined {
    return this.quotient([contender, theirs], ['millrace', name]);
  }
}
