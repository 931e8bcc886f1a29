/** The shape all background loops share: something to do once, done again after a pause, never twice at a time. */
import type { CancelTimer, Clock } from './clock.ts';

/**
 * One round of work. Answers with the time of the next round, or `null` for the usual pause. A long one asks `stopped` now and
 * then, and ends early if so.
 */
export type Round = (stopped: () => boolean) => Promise<number | null>;

export interface LoopOptions {
  readonly clock: Clock;
  /** The usual pause; `Infinity` for a loop that only runs when it is asked to. */
  readonly everyMs: number;
  /** Told what a round throws; the loop goes on. */
  onError(error: unknown): void;
}

export class Loop {
  readonly #round: Round;
  readonly #options: LoopOptions;
  #cancel: CancelTimer | null = null;
  #armedFor = Number.POSITIVE_INFINITY;
  #running: Promise<void> | null = null;
  #stopped = false;

  constructor(round: Round, options: LoopOptions) {
    this.#round = round;
    this.#options = options;
  }

  /** Runs the first round at once. */
  start(): void {
    void this.runOnce();
  }

  /** Makes sure that a round begins at `time` or before. */
  notLaterThan(time: number): void {
    if (!this.#stopped && time < this.#armedFor) this.#arm(time);
  }

  /** One round, now; if one is under way, waits for that one. */
  runOnce(): Promise<void> {
    this.#running ??= this.#once().then((next) => {
      // Over before the alarm is set: one that rings at once must find the loop free, or it would be lost.
      this.#running = null;
      if (!this.#stopped) this.#arm(Math.min(next, this.#armedFor));
    });
    return this.#running;
  }

  /** Ends the loop; resolves when the round under way has ended. */
  async stop(): Promise<void> {
    this.#stopped = true;
    this.#cancel?.();
    await this.#running;
  }

  /** Answers with when the next round is due. */
  async #once(): Promise<number> {
    this.#cancel?.();
    this.#armedFor = Number.POSITIVE_INFINITY;
    let next: number | null = null;
    try {
      next = await this.#round(() => this.#stopped);
    } catch (error) {
      this.#options.onError(error);
    }
    const usual = this.#options.clock.now() + this.#options.everyMs;
    return Math.min(next ?? usual, usual);
  }

  #arm(time: number): void {
    this.#cancel?.();
    this.#armedFor = time;
    if (time === Number.POSITIVE_INFINITY) return;
    this.#cancel = this.#options.clock.at(time, () => void this.runOnce());
  }
}
