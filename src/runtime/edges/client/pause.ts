/** How long to wait before connecting again. */
import { LONGEST_TIMER_MS } from '../../clock.ts';

export class Pause {
  readonly #least: number;
  readonly #most: number;
  #usual: number;
  #failures = 0;

  constructor({ minRetryMs, maxRetryMs }: { readonly minRetryMs: number; readonly maxRetryMs: number }) {
    this.#least = minRetryMs;
    this.#most = Math.max(minRetryMs, maxRetryMs);
    this.#usual = minRetryMs;
  }

  /** The server's `retry:` line. */
  readonly serverSays = (ms: number): void => {
    this.#usual = Math.min(Math.max(ms, this.#least), this.#most);
  };

  /** The connection was worth it. */
  readonly reset = (): void => {
    this.#failures = 0;
  };

  /** Waits, longer each time until {@link reset}; not for a signal that aborts. */
  wait(signal: AbortSignal | undefined): Promise<void> {
    const ms = Math.min(Math.max(this.#usual, 1) * 2 ** this.#failures++, this.#most);
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      // Up to a quarter longer, by chance: the clients of a server that comes back do not all knock at once.
      const timer = setTimeout(end, Math.min(ms * (1 + Math.random() / 4), LONGEST_TIMER_MS));
      signal?.addEventListener('abort', end);
      function end() {
        clearTimeout(timer);
        signal?.removeEventListener('abort', end);
        resolve();
      }
    });
  }
}
