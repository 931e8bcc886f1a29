/** When turns happen: at most one per turn of the event loop, one at a time, and again soon after a store that failed. */

/** After a failed commit, what nobody waits for is tried again: soon at first, then every few seconds. */
const RETRY_MS = { first: 50, longest: 5_000 } as const;

export class TurnLoop {
  readonly #turn: () => Promise<void>;
  readonly #onError: (error: unknown) => void;
  #closed = false;
  #scheduled = false;
  #turning: Promise<void> | null = null;
  #retryMs: number = RETRY_MS.first;
  #retryTimer: NodeJS.Timeout | null = null;
  #soonTimer: NodeJS.Timeout | null = null;
  /** Turns asked for, and turns done: what was staged before a turn was asked for is in it. */
  readonly #turns = { asked: 0, done: 0 };

  /** @param onError told what a turn throws; the loop goes on */
  constructor(turn: () => Promise<void>, onError: (error: unknown) => void) {
    this.#turn = turn;
    this.#onError = onError;
  }

  /** Asks for a turn: there may be something to do. */
  wake(): void {
    if (this.#scheduled || this.#closed) return;
    this.#scheduled = true;
    this.#turns.asked++;
    this.#forgetSoon();
    setImmediate(() => void this.#run());
  }

  /** Asks for a turn within so many milliseconds: there is something to do, and more may come. */
  wakeWithin(ms: number): void {
    if (this.#scheduled || this.#closed) return;
    this.#soonTimer ??= setTimeout(() => this.wake(), ms);
  }

  /** Asks for a turn after a while, which grows until {@link calm}. */
  wakeLater(): void {
    if (this.#retryTimer || this.#closed) return;
    this.#retryTimer = setTimeout(() => {
      this.#retryTimer = null;
      this.wake();
    }, this.#retryMs);
    this.#retryMs = Math.min(this.#retryMs * 2, RETRY_MS.longest);
  }

  /** The store answers again. */
  calm(): void {
    this.#retryMs = RETRY_MS.first;
  }

  /** Resolves when every turn asked for until now is done. Others may have been asked for meanwhile. */
  async settled(): Promise<void> {
    if (this.#soonTimer) this.wake();
    const { asked } = this.#turns;
    while (this.#turns.done < asked) await new Promise(setImmediate);
  }

  /** No more turns. */
  close(): void {
    this.#closed = true;
    this.#forgetSoon();
    if (this.#retryTimer) clearTimeout(this.#retryTimer);
  }

  #forgetSoon(): void {
    if (this.#soonTimer) clearTimeout(this.#soonTimer);
    this.#soonTimer = null;
  }

  /** One turn at a time; what arrives meanwhile waits for the next. */
  async #run(): Promise<void> {
    while (this.#turning) await this.#turning;
    this.#scheduled = false;
    if (!this.#closed) {
      this.#turning = this.#turn().catch(this.#onError);
      await this.#turning;
      this.#turning = null;
    }
    this.#turns.done++;
  }
}
