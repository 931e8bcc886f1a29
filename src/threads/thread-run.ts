/** Main bank: one phase on one thread, from the task to the outcome. The outcome comes when the thread has answered or is really gone. */
import { performance } from 'node:perf_hooks';
import type { Piscina } from 'piscina';
import type { Blob } from '../actors/blobs.ts';
import { toError, toFailure } from '../actors/failure.ts';
import { PhaseStoppedError } from '../actors/handler.ts';
import type { FailureOutcome, JobRecord, LogLine, PhaseUsage } from '../actors/vocabulary.ts';
import { buffersOf } from './blob-transfer.ts';
import { CancelLadder } from './cancel-ladder.ts';
import { CpuWatch, cpuUsed } from './cpu-watch.ts';
import type { CarriedBlobs, FromThread, HandlerRef, Reply, Task, ToThread } from './messages.ts';
import { MEMORY_BYTES, SAMPLE, WORDS, Word } from './messages.ts';
import { round } from './rounding.ts';
import type { ThreadPorts } from './thread-ports.ts';

/** What came of a phase that ran on a thread. */
export type ThreadOutcome =
  | { readonly ok: true; readonly result: unknown; readonly blobs: readonly Blob[]; readonly usage: PhaseUsage }
  | { readonly ok: false; readonly thrown: unknown; readonly outcome: FailureOutcome; readonly usage: PhaseUsage };

/** A phase to be run on a thread. */
export interface ThreadTask extends Omit<Task, 'id' | 'memory'> {
  readonly handler: HandlerRef;
  readonly job: JobRecord;
  readonly carried: CarriedBlobs | null;
  /** Between the request to stop and the end of the thread. */
  readonly graceMs: number;
  /** CPU time after which the phase is stopped. */
  readonly cpuMs: number | null;
  onProgress(percent: number, message: string | null): void;
  onLog(line: Pick<LogLine, 'at' | 'level' | 'text'>): void;
  /** Finds the binary values of an earlier phase. */
  blobsOf(phase: string): Promise<readonly Blob[]>;
}

/** A limit the phase ran past: what its attempt fails with, however it then ends. */
export interface Overrun {
  readonly error: Error;
  readonly outcome: FailureOutcome;
}

/** A thread is made in a tenth of a second; where none can be made, waiting for it would hold up everything else. */
const REPLACEMENT_PATIENCE_MS = 2_000;
const NOT_BEGUN_MS = 5;

let lastId = 0;

export class ThreadRun {
  readonly outcome: Promise<ThreadOutcome>;
  readonly #piscina: Piscina;
  readonly #task: ThreadTask;
  readonly #ports: ThreadPorts;
  readonly #id = ++lastId;
  readonly #memory = new SharedArrayBuffer(MEMORY_BYTES);
  readonly #words = new Int32Array(this.#memory, 0, WORDS);
  readonly #ladder: CancelLadder;
  readonly #cpuWatch: CpuWatch | null;
  readonly #startedAt = performance.now();
  #overrun: Overrun | null = null;
  #dying: Promise<unknown> | null = null;
  #ended = false;
  #cpuAtKill: number | null = null;

  constructor(piscina: Piscina, ports: ThreadPorts, task: ThreadTask) {
    this.#piscina = piscina;
    this.#ports = ports;
    this.#task = task;
    ports.listen(this.#id, (message) => this.#hear(message));
    this.#ladder = new CancelLadder({
      words: this.#words,
      graceMs: task.graceMs,
      post: ({ code, detail }) => this.#post({ task: this.#id, type: 'stop', reason: code, detail }),
      kill: () => this.kill(),
    });
    this.#cpuWatch = task.cpuMs === null ? null : new CpuWatch(this.#memory, task.cpuMs, (used) => this.#overCpu(used));
    this.outcome = this.#run();
  }

  /** Asks the handler to stop; ends its thread if it does not within the grace period. */
  stop(reason: PhaseStoppedError, overrun: Overrun | null = null): void {
    this.#overrun ??= overrun;
    this.#ladder.ask(reason);
  }

  /**
   * Last rung: ends the thread, now. Native code it may be in is waited for, nothing else.
   * @param replaced whether the outcome waits for the thread's successor
   */
  kill(replaced = true): void {
    if (this.#dying || this.#ended) return;
    const threadId = this.#words[Word.threadId];
    const thread = this.#piscina.threads.find((one) => one.threadId === threadId);
    if (!thread) {
      // The task is on its way to a thread that has not begun it.
      setTimeout(() => this.kill(replaced), NOT_BEGUN_MS);
      return;
    }
    this.#cpuAtKill = cpuUsed(this.#memory);
    this.#dying = Promise.all([thread.terminate(), replaced && this.#replaced()]);
  }

  /** Asks a handler that polls how much memory it uses. */
  sample(): void {
    Atomics.compareExchange(this.#words, Word.attention, 0, SAMPLE);
  }

  async #run(): Promise<ThreadOutcome> {
    const { handler, job, phase, carried, maxPayloadBytes, blobRules, maxExternalBytes, printLogs } = this.#task;
    const task: Task = {
      id: this.#id,
      handler,
      job,
      phase,
      memory: this.#memory,
      carried,
      maxPayloadBytes,
      blobRules,
      maxExternalBytes,
      printLogs,
    };
    const transferList = buffersOf(carried?.blobs ?? []);
    try {
      const reply = (await this.#piscina.run(task, { transferList })) as Reply;
      this.#ports.drain(reply.usage.threadId);
      return this.#settled(reply);
    } catch (error) {
      const dead = this.#died(error);
      if (neverLeft(error)) return dead;
      await (this.#dying ?? this.#replaced());
      return dead;
    } finally {
      this.#ended = true;
      this.#ladder.close();
      this.#cpuWatch?.close();
      this.#ports.forget(this.#id, this.#words[Word.threadId] ?? 0);
    }
  }

  /** The slot is worth something when a fresh thread is ready: the next phase's clock must not run while one is being made. */
  #replaced(): Promise<void> {
    const { promise, resolve } = withResolvers();
    const timer = setTimeout(resolve, REPLACEMENT_PATIENCE_MS);
    this.#piscina.once('workerCreate', resolve);
    return promise.finally(() => {
      clearTimeout(timer);
      this.#piscina.off('workerCreate', resolve);
    });
  }

  #settled(reply: Reply): ThreadOutcome {
    const { usage } = reply;
    if (this.#overrun) return { ok: false, thrown: this.#overrun.error, outcome: this.#overrun.outcome, usage };
    if (reply.ok) return { ok: true, result: reply.value, blobs: reply.blobs, usage };
    return { ok: false, thrown: toError(reply.failure), outcome: reply.outcome, usage };
  }

  /** The thread is gone, and what it knew with it. */
  #died(error: unknown): ThreadOutcome {
    const usage = this.#usageFromOutside();
    if (this.#dying) {
      const thrown =
        this.#overrun?.error ?? new Error('The handler did not stop when asked, and its thread was ended.');
      return { ok: false, thrown, outcome: 'unresponsive', usage };
    }
    return { ok: false, thrown: error, outcome: outcomeOf(error as Error & { code?: unknown }), usage };
  }

  #usageFromOutside(): PhaseUsage {
    return {
      threadId: this.#words[Word.threadId] ?? 0,
      wallMs: round(performance.now() - this.#startedAt),
      cpuMs: this.#cpuAtKill === null ? null : round(this.#cpuAtKill),
      peakHeapBytes: null,
      peakExternalBytes: null,
      utilization: null,
      bytesIn: 0,
      bytesOut: 0,
    };
  }

  #overCpu(used: number): void {
    const message = `Phase "${this.#task.phase}" used ${Math.round(used)} ms of CPU, more than its cpuMs of ${this.#task.cpuMs}.`;
    const error = Object.assign(new Error(message), { code: 'cpu_budget' });
    this.stop(new PhaseStoppedError('cpu_budget'), { error, outcome: 'timeout' });
  }

  /** Answers `false` while no thread has begun the task; the one that does will look at the shared memory. */
  #post(message: ToThread, transferList: ArrayBuffer[] = []): boolean {
    const threadId = Atomics.load(this.#words, Word.threadId);
    if (threadId !== 0) this.#ports.post(threadId, message, transferList);
    return threadId !== 0;
  }

  #hear(message: FromThread): void {
    if (message.type === 'progress') this.#task.onProgress(message.percent, message.message);
    else if (message.type === 'log') this.#task.onLog(message);
    else void this.#answer(message.phase);
  }

  async #answer(phase: string): Promise<void> {
    let answer: ToThread;
    try {
      answer = { task: this.#id, type: 'blobs', blobs: await this.#task.blobsOf(phase), error: null };
    } catch (error) {
      answer = { task: this.#id, type: 'blobs', blobs: [], error: toFailure(error) };
    }
    this.#post(answer, buffersOf(answer.blobs));
    Atomics.add(this.#words, Word.answer, 1);
    Atomics.notify(this.#words, Word.answer);
  }
}

/** What Piscina says of a task that did not come to its end by itself. */
function outcomeOf(error: Error & { code?: unknown }): FailureOutcome {
  if (error.code === 'ERR_WORKER_OUT_OF_MEMORY') return 'out_of_memory';
  return neverLeft(error) ? 'threw' : 'crashed';
}

/** Something in the job's data cannot be sent to a thread: none has seen the task. */
function neverLeft(error: unknown): boolean {
  return (error as Error).name === 'DataCloneError';
}

function withResolvers() {
  let resolve!: () => void;
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
