/** Notices what other processes append to the log. This process hears of its own commits sooner, so that the look is only a look. */
import type { CancelTimer, Clock } from '../clock.ts';
import type { Store } from '../store/port.ts';

/** One indexed read per look. */
const LOOK_EVERY_MS = 100;

export class LogWatch {
  readonly #store: Pick<Store, 'logRange'>;
  readonly #clock: Clock;
  readonly #onReach: (position: number) => void;
  #cancel: CancelTimer | null = null;

  /** @param onReach told how far the log reaches, at every look */
  constructor(store: Pick<Store, 'logRange'>, clock: Clock, onReach: (position: number) => void) {
    this.#store = store;
    this.#clock = clock;
    this.#onReach = onReach;
  }

  start(): void {
    const arm = () => {
      const cancel = this.#clock.at(this.#clock.now() + LOOK_EVERY_MS, async () => {
        // A store that is busy now will be asked again at once.
        const range = await this.#store.logRange().catch(() => null);
        if (this.#cancel !== cancel) return;
        if (range) this.#onReach(range.newest);
        if (this.#cancel === cancel) arm();
      });
      this.#cancel = cancel;
    };
    this.stop();
    arm();
  }

  stop(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
