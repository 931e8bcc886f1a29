/** Whether a phase must stop, and the AbortSignal that says so, made when somebody first asks for it. */
import type { PhaseStoppedError } from './handler.ts';

export class Stopping {
  #reason: PhaseStoppedError | null = null;
  #controller: AbortController | null = null;

  /** Why the phase must stop; `null` while it need not. */
  get reason(): PhaseStoppedError | null {
    return this.#reason;
  }

  get signal(): AbortSignal {
    if (!this.#controller) {
      this.#controller = new AbortController();
      if (this.#reason) this.#controller.abort(this.#reason);
    }
    return this.#controller.signal;
  }

  /** The first reason counts. */
  stop(reason: PhaseStoppedError): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#controller?.abort(reason);
  }

  /** Throws the reason, if there is one. */
  checkpoint(): void {
    if (this.#reason) throw this.#reason;
  }
}
