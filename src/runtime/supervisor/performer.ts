/**
 * Performs what the statechart wished for, after the commit: runs phases, stops them, and sends what comes of
 * them back as events. A run that was stopped cannot move its job any more, but keeps its slot until it returns.
 */

import { toFailure } from '../../actors/failure.ts';
import { PhaseStoppedError } from '../../actors/handler.ts';
import type { JobEvent } from '../../actors/job-events.ts';
import type { JobRecord, StopReason } from '../../actors/vocabulary.ts';
import type { CancelTimer, Clock } from '../clock.ts';
import { ShuttingDownError } from '../errors.ts';
import type { AnyPipeline, Phase } from '../pipeline.ts';
import { type Capacity, type Claim, claimKey } from './capacity.ts';
import { type Outcome, runInline } from './inline-runner.ts';
import type { Message } from './turn.ts';

/** What the performer needs from its surroundings. */
export interface PerformerOptions {
  readonly pipelines: ReadonlyMap<string, AnyPipeline>;
  readonly capacity: Capacity;
  readonly clock: Clock;
  readonly maxPayloadBytes: number;
  /** Hands a message to the supervisor. */
  post(message: Message): void;
  /** A slot or place has become free without a message. */
  onRoom(): void;
}

interface Run {
  readonly job: JobRecord;
  readonly pipeline: AnyPipeline;
  readonly phase: Phase;
  readonly lane: string;
  readonly controller: AbortController;
  stopped: StopReason | null;
  /** Progress on its way to the supervisor; later news replaces it. */
  news: Message | null;
  cancelTimeout: CancelTimer | null;
}

/** The lane of a phase. */
export function laneOf(_phase: Phase): string {
  return 'inline';
}

export class Performer {
  readonly #options: PerformerOptions;
  readonly #runs = new Map<string, Run>();
  /** Jobs whose next phase waits for a lane, with the way out of the line. */
  readonly #inLine = new Map<string, () => void>();
  /** Jobs that have their slot and wait for the commit that says so. */
  readonly #granted = new Set<string>();
  readonly #idle = new Set<() => void>();
  /** What becomes of jobs now that the queue is shutting down; `null` while it is not. */
  #onStopped: ((at: number) => JobEvent) | null = null;

  constructor(options: PerformerOptions) {
    this.#options = options;
  }

  /** Handlers that have not returned, stopped ones included. */
  get running(): number {
    return this.#runs.size;
  }

  /** Runs the job's current phase in a slot that is already taken. */
  run(job: JobRecord): void {
    const pipeline = this.#options.pipelines.get(job.pipeline);
    const phase = pipeline?.phases[job.phaseIndex];
    if (!pipeline || !phase) throw new Error(`Job "${job.id}" has no phase ${job.phaseIndex} to run.`);
    const run: Run = {
      job,
      pipeline,
      phase,
      lane: laneOf(phase),
      controller: new AbortController(),
      stopped: null,
      news: null,
      cancelTimeout: null,
    };
    const key = claimKey(job);
    this.#inLine.delete(key);
    this.#granted.delete(key);
    if (this.#onStopped) {
      this.#turnAway(run, this.#onStopped);
      return;
    }
    this.#runs.set(key, run);
    if (job.timeoutAt !== null) {
      run.cancelTimeout = this.#options.clock.at(job.timeoutAt, () => this.#timeOut(run));
    }
    void this.#execute(run);
  }

  /** Gets in line for the lane of the job's current phase; the phase's clock starts when it has its slot. */
  runWhenRoom(job: JobRecord): void {
    const key = claimKey(job);
    const lane = this.laneFor(job);
    const leave = this.#options.capacity.wait(lane, () => {
      this.#inLine.set(key, () => this.#options.capacity.free(lane));
      this.#granted.add(key);
      const event: JobEvent = { type: 'phaseStarted', at: this.#options.clock.now() };
      this.#options.post({ jobId: job.id, fence: job.fence, event });
    });
    this.#inLine.set(key, leave);
  }

  /** Has the job come to the head of the line and been given its slot? */
  hasSlot(job: JobRecord): boolean {
    return this.#granted.has(claimKey(job));
  }

  isRunning(claim: Claim): boolean {
    return this.#runs.has(claimKey(claim));
  }

  /** The lane of the job's current phase. */
  laneFor(job: JobRecord): string {
    const phase = this.#options.pipelines.get(job.pipeline)?.phases[job.phaseIndex];
    return phase ? laneOf(phase) : 'inline';
  }

  /** Tells the handler of this claim to stop; what it still returns is discarded. */
  stop(claim: Claim, reason: StopReason, detail?: string | null): void {
    const key = claimKey(claim);
    this.#inLine.get(key)?.();
    this.#inLine.delete(key);
    this.#granted.delete(key);
    const run = this.#runs.get(key);
    if (run) this.#abort(run, reason, detail);
  }

  /** Shutdown, second part: asks every handler to stop. A result still counts; a failure becomes `event`. */
  stopAll(event: (at: number) => JobEvent): void {
    this.#onStopped = event;
    for (const run of this.#runs.values()) this.#abort(run, 'shutdown');
  }

  /** Resolves as soon as no handler is running. */
  async idle(): Promise<void> {
    if (this.#runs.size > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  /** A job that finished a phase during shutdown does not begin the next one. */
  #turnAway({ job, lane }: Run, event: (at: number) => JobEvent): void {
    this.#options.capacity.free(lane);
    this.#options.post({ jobId: job.id, fence: job.fence, event: event(this.#options.clock.now()) });
  }

  async #execute(run: Run): Promise<void> {
    const outcome = await runInline({
      pipeline: run.pipeline,
      phase: run.phase,
      job: run.job,
      signal: run.controller.signal,
      maxPayloadBytes: this.#options.maxPayloadBytes,
      onProgress: (percent, message) => this.#report(run, percent, message),
    });
    run.cancelTimeout?.();
    const { capacity, post, onRoom } = this.#options;
    this.#runs.delete(claimKey(run.job));
    capacity.free(run.lane);
    const event = this.#eventOf(run, outcome);
    if (event) post({ jobId: run.job.id, fence: run.job.fence, event });
    else {
      capacity.letGo(run.job.pipeline, claimKey(run.job));
      onRoom();
    }
    if (this.#runs.size === 0) {
      for (const resolve of this.#idle) resolve();
      this.#idle.clear();
    }
  }

  /** `null`: the run was stopped, and its job has moved on without it. */
  #eventOf(run: Run, outcome: Outcome): JobEvent | null {
    const at = this.#options.clock.now();
    if (run.stopped !== null && run.stopped !== 'shutdown') return null;
    if (outcome.ok) return { type: 'phaseCompleted', at, result: outcome.result };
    if (this.#onStopped) return this.#onStopped(at);
    return this.#failed(run, outcome, at);
  }

  #failed(run: Run, outcome: Extract<Outcome, { ok: false }>, at: number): JobEvent {
    const failure = toFailure(outcome.thrown);
    // The handler called the queue while it was shutting down: no fault of the job, which another run takes up.
    if (failure.name === ShuttingDownError.name && failure.code === 'shutting_down') return { type: 'released', at };
    try {
      const { disposition, delayMs } = run.pipeline.retry.decide(outcome.thrown, run.job, outcome.fallback);
      return { type: 'phaseFailed', at, failure, disposition, retryAt: at + delayMs };
    } catch (error) {
      // `classify` is the user's code; if it throws, giving up is the safe answer, and its error goes on record.
      const cause = toFailure(new Error(`retry.classify threw: ${String(error)}`, { cause: outcome.thrown }));
      return { type: 'phaseFailed', at, failure: cause, disposition: 'fatal', retryAt: at };
    }
  }

  #timeOut(run: Run): void {
    if (run.stopped !== null) return;
    const at = this.#options.clock.now();
    const byJob =
      run.phase.timeoutMs === null ||
      (run.job.timeoutAt ?? 0) < (run.job.phases[run.job.phaseIndex]?.startedAt ?? 0) + run.phase.timeoutMs;
    const limit = byJob ? `the job's timeoutMs of ${run.job.timeoutMs}` : `its timeoutMs of ${run.phase.timeoutMs}`;
    const thrown = Object.assign(new Error(`Phase "${run.phase.name}" ran past ${limit} ms.`), { code: 'timeout' });
    const event = this.#failed(run, { ok: false, thrown, fallback: 'recoverable' }, at);
    this.#options.post({ jobId: run.job.id, fence: run.job.fence, event });
  }

  #report(run: Run, progress: number, message: string | null): void {
    if (run.stopped !== null) return;
    const event: JobEvent = { type: 'progressed', at: this.#options.clock.now(), progress, message };
    if (run.news) {
      run.news.event = event;
      return;
    }
    const onTaken = () => {
      run.news = null;
    };
    run.news = { jobId: run.job.id, fence: run.job.fence, event, onTaken };
    this.#options.post(run.news);
  }

  #abort(run: Run, reason: StopReason, detail?: string | null): void {
    if (run.stopped !== null && run.stopped !== 'shutdown') return;
    run.stopped = reason;
    run.cancelTimeout?.();
    run.controller.abort(new PhaseStoppedError(reason, detail));
  }
}
