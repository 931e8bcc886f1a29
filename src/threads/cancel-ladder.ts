/** Main bank: ask over the port and in shared memory, wait, then end the thread. The first reason counts. */
import type { MessagePort } from 'node:worker_threads';
import type { PhaseStoppedError } from '../actors/handler.ts';
import { STOP, type ToThread, Word } from './messages.ts';

export interface LadderOptions {
  readonly port: MessagePort;
  readonly words: Int32Array;
  readonly graceMs: number;
  /** Ends the thread. */
  kill(): void;
}

export class CancelLadder {
  readonly #options: LadderOptions;
  #timer: NodeJS.Timeout | null = null;
  #asked = false;

  constructor(options: LadderOptions) {
    this.#options = options;
  }

  /** First rung; the others follow by themselves. */
  ask(reason: PhaseStoppedError): void {
    if (this.#asked) return;
    this.#asked = true;
    const { port, words, graceMs, kill } = this.#options;
    // The reason first, then the word: whoever sees the word finds the reason.
    port.postMessage({ type: 'stop', reason: reason.code, detail: reason.detail } satisfies ToThread);
    Atomics.store(words, Word.attention, STOP);
    Atomics.notify(words, Word.answer);
    this.#timer = setTimeout(kill, graceMs);
  }

  /** The phase has ended: nobody needs to be ended any more. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
}
