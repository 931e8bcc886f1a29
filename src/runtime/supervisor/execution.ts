/** One phase of one claim, from start to outcome: its handler, its time limit, its news. */
import type { Blob } from '../../actors/blobs.ts';
import { PhaseStoppedError } from '../../actors/handler.ts';
import type { JobEvent, PhaseStarted } from '../../actors/job-events.ts';
import type { JobRecord } from '../../actors/vocabulary.ts';
import type { CarriedBlobs } from '../../threads/messages.ts';
import type { ThreadPool } from '../../threads/pool.ts';
import type { Overrun } from '../../threads/thread-run.ts';
import type { CancelTimer } from '../clock.ts';
import { ShuttingDownError } from '../errors.ts';
import type { Phase } from '../phase.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { HotBlobs } from './hot-blobs.ts';
import { type PhaseRun, startInline } from './inline-runner.ts';
import { News, type NewsOptions } from './news.ts';
import { type Failing, failedEvent, type Outcome, type RunningPhase } from './outcome.ts';
import { startOnThread } from './thread-runner.ts';
import type { Message } from './turn.ts';
import { validated } from './validation.ts';

/** What an execution needs from its surroundings. */
export interface ExecutionOptions extends NewsOptions {
  readonly pools: ReadonlyMap<string, ThreadPool>;
  readonly maxPayloadBytes: number;
  readonly maxBlobBytes: number;
  readonly printLogs: boolean;
  /** Has the queue begun to shut down? */
  isShuttingDown(): boolean;
  /** Finds stored binary values. */
  blobs(jobId: string, phase: string): Promise<readonly Blob[]>;
  /** Hands a message to the supervisor; with `withinMs` it may wait for others that long. */
  post(message: Message, withinMs?: number): void;
}

/** What is run, and that it begins now, if the job's record says otherwise. */
interface Given {
  readonly job: JobRecord;
  readonly pipeline: AnyPipeline;
  readonly phase: Phase;
  readonly start: PhaseStarted | null;
}

/** What a handler is given that had to be waited for. */
interface Prepared {
  /** The schema's output; `undefined` if there is no schema. */
  readonly data?: unknown;
  /** The last phase's binary values, if they are still in memory. */
  readonly carried?: CarriedBlobs | null;
  /** The binary values of earlier phases, for inline handlers. */
  readonly blobs?: ReadonlyMap<string, readonly Blob[]>;
}

const NO_BLOBS: ReadonlyMap<string, readonly Blob[]> = new Map();

export class Execution {
  readonly job: JobRecord;
  readonly #pipeline: AnyPipeline;
  readonly #phase: Phase;
  readonly #options: ExecutionOptions;
  readonly #hot: HotBlobs;
  #begun = false;
  /** `null` until the handler has been started. */
  #running: RunningPhase | null = null;
  /** Ends the preparations, if they are under way. */
  #giveUp: ((reason: unknown) => void) | null = null;
  #stopped: PhaseStoppedError | null = null;
  #overrun: Overrun | undefined;
  readonly #news: News;
  readonly #cancelTimeout: CancelTimer | null;

  constructor({ job, pipeline, phase, start }: Given, options: ExecutionOptions, hot: HotBlobs) {
    this.job = job;
    this.#pipeline = pipeline;
    this.#phase = phase;
    this.#options = options;
    this.#hot = hot;
    this.#cancelTimeout = job.timeoutAt === null ? null : options.clock.at(job.timeoutAt, () => this.#timeOut());
    this.#news = new News(job, phase.name, start, options);
  }

  /** Runs the handler to its end. Never rejects. */
  async outcome(): Promise<Outcome> {
    let outcome: Outcome;
    try {
      // It may have waited for its slot beyond the limit of its attempt.
      if (this.job.timeoutAt !== null && this.job.timeoutAt <= this.#options.clock.now()) this.#timeOut();
      this.#running = this.#needsPreparing ? this.#start(await this.#unlessStopped(this.#prepare())) : this.#start({});
      outcome = await this.#running.outcome;
    } catch (thrown) {
      const { error = thrown, outcome: how = 'threw' } = this.#overrun ?? {};
      outcome = {
        ok: false,
        thrown: error,
        outcome: how,
        usage: null,
        ...(this.#overrun ? {} : { fallback: 'fatal' }),
      };
    }
    this.#cancelTimeout?.();
    this.#news.close();
    return outcome;
  }

  /**
   * What the outcome means for the job; `null` if the job has moved on without it.
   * @param onShutdown what becomes of a job whose handler was stopped by the queue's shutdown
   */
  eventOf(outcome: Outcome, onShutdown: ((at: number) => JobEvent) | null): JobEvent | null {
    const at = this.#options.clock.now();
    const code = this.#stopped?.code;
    // An inline handler past its time has been left behind: its job failed when the time was up.
    const abides = code === undefined || code === 'shutdown' || (code === 'timeout' && this.#canBeStopped);
    if (!abides) return null;
    if (outcome.ok) {
      const { result, blobs, usage } = outcome;
      const startedAt = this.#news.unrecordedStart;
      return { type: 'phaseCompleted', at, result, blobs: blobs.length, usage, startedAt };
    }
    if (onShutdown) return onShutdown(at);
    // The handler called a queue that is going away. If that is this one, it is no fault of the job, which another run takes up.
    if (this.#options.isShuttingDown() && outcome.thrown instanceof ShuttingDownError) return { type: 'released', at };
    return this.#failed(outcome, at);
  }

  /** Asks the handler to stop. The first reason counts, unless the job is taken away while its time runs out or the queue shuts down. */
  stop(reason: PhaseStoppedError, overrun?: Overrun): void {
    const before = this.#stopped?.code;
    const outranked = before === 'shutdown' || (before === 'timeout' && reason.code !== 'shutdown');
    if (before !== undefined && !outranked) return;
    this.#stopped = reason;
    this.#news.close();
    this.#overrun ??= overrun;
    this.#cancelTimeout?.();
    this.#running?.stop(reason, overrun);
    this.#giveUp?.(reason);
  }

  /** Ends the handler's thread; `false` if it has none. */
  kill(): boolean {
    this.#running?.kill?.();
    return this.#running?.kill !== undefined;
  }

  get isOnThread(): boolean {
    return this.#phase.work.kind === 'thread';
  }

  /** A thread can be, and so can what has not begun. */
  get #canBeStopped(): boolean {
    return this.isOnThread || !this.#begun;
  }

  /** Most phases need nothing that has to be waited for. */
  get #needsPreparing(): boolean {
    return this.#pipeline.schema !== null || (!this.isOnThread && this.job.phases.some(({ blobs }) => blobs > 0));
  }

  async #prepare(): Promise<Prepared> {
    const carried = this.#hot.take(this.job.id);
    const data = this.#pipeline.schema ? { data: await validated(this.#pipeline, this.job.data) } : {};
    if (this.isOnThread) return { ...data, carried };
    // A thread asks for those it wants; here they are at hand.
    const binary = this.job.phases.filter(({ blobs }) => blobs > 0);
    const found = binary.map(async ({ name }) => {
      return [name, carried?.phase === name ? carried.blobs : await this.#blobsOf(name)] as const;
    });
    return { ...data, carried, blobs: new Map(await Promise.all(found)) };
  }

  /** A schema may take its time, or hang: a phase that must stop before its handler has begun does not begin. */
  #unlessStopped<T>(work: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#giveUp = reject;
      work.then(resolve, reject);
    });
  }

  #start({ data, carried = this.#hot.take(this.job.id), blobs = NO_BLOBS }: Prepared): RunningPhase {
    if (this.#stopped) throw this.#stopped;
    this.#begun = true;
    const { work, name: phase } = this.#phase;
    const { pools, printLogs, maxPayloadBytes, maxBlobBytes } = this.#options;
    const run: PhaseRun = {
      phase,
      job: this.#jobWith(data),
      maxPayloadBytes,
      maxBlobBytes,
      onProgress: (percent, message) => this.#news.progress(percent, message),
      onLog: (line) => this.#news.log(line),
    };
    if (work.kind === 'inline') return startInline(work, run, blobs);
    const pool = pools.get(work.pool);
    if (!pool) throw new Error(`There is no pool "${work.pool}".`);
    return startOnThread(work, run, pool, carried, printLogs, (name) => this.#blobsOf(name));
  }

  /** With the schema's output; without a schema, an inline handler gets a copy, as a thread does in any case: what it does to its data is not to be seen in events. */
  #jobWith(data: unknown): JobRecord {
    if (data !== undefined) return { ...this.job, data };
    return this.isOnThread ? this.job : { ...this.job, data: structuredClone(this.job.data) };
  }

  async #blobsOf(phase: string): Promise<readonly Blob[]> {
    const { id, phases } = this.job;
    const expected = phases.find(({ name }) => name === phase)?.blobs ?? 0;
    const blobs = [...(await this.#options.blobs(id, phase)), ...this.#hot.sharedOf(id, phase)];
    if (blobs.length >= expected) return blobs;
    throw new Error(
      `The shared memory that phase "${phase}" returned is gone: it lives only as long as its process and its job. Enqueue the job anew.`,
    );
  }

  /** A thread is stopped before its attempt ends, so that no other attempt runs beside it; what runs inline may never stop. */
  #timeOut(): void {
    if (this.#stopped) return;
    const overrun: Overrun = { error: overdue(this.job, this.#phase), outcome: 'timeout' };
    if (this.#canBeStopped) {
      this.stop(new PhaseStoppedError('timeout'), overrun);
      return;
    }
    const { id: jobId, fence } = this.job;
    const failing = { ok: false, thrown: overrun.error, outcome: overrun.outcome, usage: null } as const;
    this.#options.post({ jobId, fence, event: this.#failed(failing, this.#options.clock.now()) });
  }

  #failed(failing: Failing, at: number): JobEvent {
    return { ...failedEvent(this.#pipeline, this.job, failing, at), startedAt: this.#news.unrecordedStart };
  }
}

function overdue(job: JobRecord, phase: Phase): Error {
  const startedAt = job.phases[job.phaseIndex]?.startedAt ?? 0;
  const byJob = phase.timeoutMs === null || (job.timeoutAt ?? 0) < startedAt + phase.timeoutMs;
  const limit = byJob ? `the job's timeoutMs of ${job.timeoutMs}` : `its timeoutMs of ${phase.timeoutMs}`;
  return Object.assign(new Error(`Phase "${phase.name}" ran past ${limit} ms.`), { code: 'timeout' });
}
