/** Thread bank: news on their way out, so many and no more. A handler may report a million times a second; the main thread has better things to do. */
import { performance } from 'node:perf_hooks';
import type { LogLine } from '../actors/vocabulary.ts';
import type { FromThread } from './messages.ts';
import { port } from './thread-port.ts';

const PROGRESS_EVERY_MS = 25;
const MOST_LINES = 1_000;
const LONGEST_LINE = 8_192;

export class Reports {
  readonly #task: number;
  #pending: FromThread | null = null;
  #sentAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | null = null;
  #lines = 0;

  constructor(task: number) {
    this.#task = task;
  }

  /** The latest counts: what comes too soon after the last report waits, and is replaced by what comes later. */
  progress(percent: number, message: string | null): void {
    this.#pending = { task: this.#task, type: 'progress', percent, message };
    const wait = this.#sentAt + PROGRESS_EVERY_MS - performance.now();
    if (wait <= 0) this.flush();
    // A handler that loops without pause never sees the timer; its next report does the same.
    else this.#timer ??= setTimeout(() => this.flush(), wait).unref();
  }

  /** Sends what waits. */
  flush(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    if (!this.#pending) return;
    this.#send(this.#pending);
    this.#pending = null;
    this.#sentAt = performance.now();
  }

  log(level: LogLine['level'], text: string): void {
    if (this.#lines > MOST_LINES) return;
    const last = this.#lines++ === MOST_LINES;
    const line = last ? `(more than ${MOST_LINES} lines: the rest of this attempt is not kept)` : text;
    const said = { at: Date.now(), level: last ? 'warn' : level, text: line.slice(0, LONGEST_LINE) } as const;
    this.#send({ task: this.#task, type: 'log', ...said });
  }

  #send(message: FromThread): void {
    port.postMessage(message);
  }
}
