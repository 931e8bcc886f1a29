/** Main bank: ask over the port and in shared memory, wait, then end the thread. The first reason counts. */
import type { PhaseStoppedError } from '../actors/handler.ts';
import { STOP_REASONS } from '../actors/vocabulary.ts';
import { STOP, Word } from './messages.ts';

export interface LadderOptions {
  readonly words: Int32Array;
  readonly graceMs: number;
  /** Posts the reason to the thread; answers whether it has begun the task, and so can be reached. */
  post(reason: PhaseStoppedError): boolean;
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
    const { post, words, graceMs, kill } = this.#options;
    // The reason first, then the word: whoever sees the word finds the reason.
    const posted = post(reason);
    Atomics.store(words, Word.reason, STOP_REASONS.indexOf(reason.code) + 1);
    Atomics.store(words, Word.attention, STOP);
    Atomics.notify(words, Word.answer);
    // It may have begun in between, and looked before the word was there.
    if (!posted) post(reason);
    this.#timer = setTimeout(kill, graceMs);
  }

  /** The phase has ended: nobody needs to be ended any more. */
  close(): void {
    if (this.#timer) clearTimeout(this.#timer);
  }
}
