/**
 * Thread bank: the ear of a running phase. A handler that awaits hears the port; one that loops without pause reads a word of
 * shared memory. Both end in the same AbortSignal.
 */
import { receiveMessageOnPort } from 'node:worker_threads';
import { PhaseStoppedError } from '../actors/handler.ts';
import { Stopping } from '../actors/stopping.ts';
import { STOP_REASONS } from '../actors/vocabulary.ts';
import { SAMPLE, STOP, type Task, type ToThread, WORDS, Word } from './messages.ts';
import { listenWith, port } from './thread-port.ts';

/** How long to sleep at a time while waiting for an answer: a stop must be heard meanwhile. */
const NAP_MS = 50;

export class Cancellation {
  readonly #task: number;
  readonly #words: Int32Array;
  readonly #onSample: () => void;
  readonly #stopping = new Stopping();
  readonly #answers: Extract<ToThread, { type: 'blobs' }>[] = [];
  #signal: AbortSignal | null = null;

  constructor({ id, memory }: Task, onSample: () => void) {
    this.#task = id;
    this.#words = new Int32Array(memory, 0, WORDS);
    this.#onSample = onSample;
    listenWith((message) => this.#hear(message));
  }

  /** A real AbortSignal whose `aborted` and `throwIfAborted` also look at the shared memory. */
  get signal(): AbortSignal {
    this.#signal ??= pollOnRead(this.#stopping.signal, () => this.reason, this.checkpoint);
    return this.#signal;
  }

  /** Why the phase must stop; `null` while it need not. */
  get reason(): PhaseStoppedError | null {
    if (Atomics.load(this.#words, Word.attention) !== 0) this.#look();
    return this.#stopping.reason;
  }

  /** Throws if the phase must stop. About ten nanoseconds otherwise. */
  readonly checkpoint = (): void => {
    if (Atomics.load(this.#words, Word.attention) !== 0) this.#look();
    this.#stopping.checkpoint();
  };

  /** Stops the phase from inside. */
  stop(reason: PhaseStoppedError): void {
    this.#stopping.stop(reason);
  }

  /** Waits, without letting go of the thread, for the next answer; throws if the phase must stop meanwhile. */
  awaitAnswer(): Extract<ToThread, { type: 'blobs' }> {
    for (;;) {
      // Looked at before the port: a bell that rings in between is not slept through.
      const bell = Atomics.load(this.#words, Word.answer);
      this.#drain();
      const answer = this.#answers.shift();
      if (answer) return answer;
      this.checkpoint();
      Atomics.wait(this.#words, Word.answer, bell, NAP_MS);
    }
  }

  /** Nobody listens any more. */
  close(): void {
    listenWith(null);
  }

  #look(): void {
    const attention = Atomics.load(this.#words, Word.attention);
    if (attention === SAMPLE && Atomics.compareExchange(this.#words, Word.attention, SAMPLE, 0) === SAMPLE) {
      this.#onSample();
    } else if (attention === STOP && !this.#stopping.reason) {
      // The reason was posted before the word was set; if nobody had our port yet, it was only written.
      this.#drain();
      this.stop(new PhaseStoppedError(STOP_REASONS[(this.#words[Word.reason] ?? 1) - 1] ?? 'cancelled'));
    }
  }

  #drain(): void {
    for (let entry = receiveMessageOnPort(port); entry; entry = receiveMessageOnPort(port)) {
      this.#hear(entry.message as ToThread);
    }
  }

  /** Words meant for a phase that has ended are not for this one. */
  #hear(message: ToThread): void {
    if (message.task !== this.#task) return;
    if (message.type === 'stop') this.stop(new PhaseStoppedError(message.reason, message.detail));
    else this.#answers.push(message);
  }
}

/** Its own properties stand before the prototype's, so the signal stays a real one for everybody else. */
function pollOnRead(signal: AbortSignal, reason: () => unknown, checkpoint: () => void): AbortSignal {
  return Object.defineProperties(signal, {
    aborted: { get: () => reason() !== null },
    throwIfAborted: { value: checkpoint },
  });
}
