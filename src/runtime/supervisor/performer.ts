/**
 * Performs what the statechart wished for, after the commit: runs phases, stops them, and sends what comes of
 * them back as events. A run that was stopped cannot move its job any more, but keeps its slot until it returns.
 */
import { PhaseStoppedError } from '../../actors/handler.ts';
import type { JobEvent, PhaseStarted } from '../../actors/job-events.ts';
import { phaseStarted } from '../../actors/lifecycle.ts';
import type { JobRecord, StopReason } from '../../actors/vocabulary.ts';
import { INLINE_LANE, laneOf } from '../phase.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { type Capacity, type Claim, claimKey } from './capacity.ts';
import { Execution, type ExecutionOptions } from './execution.ts';
import { HotBlobs } from './hot-blobs.ts';
import { GATHER_MS, Pace } from './pace.ts';

/** What the performer needs from its surroundings. */
export interface PerformerOptions extends ExecutionOptions {
  readonly pipelines: ReadonlyMap<string, AnyPipeline>;
  readonly capacity: Capacity;
  /** A slot or place has become free without a message. */
  onRoom(): void;
}

export class Performer {
  readonly #options: PerformerOptions;
  readonly #running = new Map<string, Execution>();
  readonly #hot = new HotBlobs();
  readonly #pace: Pace;
  /** Jobs whose thread has been asked to stop and is not gone yet. */
  readonly #leaving = new Set<string>();
  /** Jobs whose next phase waits for a lane, with the way out of the line. */
  readonly #inLine = new Map<string, { readonly job: JobRecord; leave(): void }>();
  readonly #idle = new Set<() => void>();
  /** What becomes of jobs now that the queue is shutting down; `null` while it is not. */
  #onShutdown: ((at: number) => JobEvent) | null = null;

  constructor(options: PerformerOptions) {
    this.#options = options;
    this.#pace = new Pace(options.capacity);
  }

  /** Handlers that have not returned, stopped ones included. */
  get running(): number {
    return this.#running.size;
  }

  /**
   * Runs the job's current phase in a slot that is already taken.
   * @param start that it begins now, if the record says otherwise
   */
  run(job: JobRecord, start: PhaseStarted | null = null): void {
    const { pipelines, clock, capacity, post } = this.#options;
    const pipeline = pipelines.get(job.pipeline);
    const phase = pipeline?.phases[job.phaseIndex];
    if (!pipeline || !phase) throw new Error(`Job "${job.id}" has no phase ${job.phaseIndex} to run.`);
    const key = claimKey(job);
    const lane = laneOf(phase);
    this.#inLine.delete(key);
    if (this.#onShutdown) {
      // A job that finished a phase during shutdown does not begin the next one.
      capacity.free(lane);
      post({ jobId: job.id, fence: job.fence, event: this.#onShutdown(clock.now()) });
      return;
    }
    const execution = new Execution({ job, pipeline, phase, start }, this.#options, this.#hot);
    this.#running.set(key, execution);
    void this.#finish(execution, lane, phase.name);
  }

  /**
   * Gets in line for the lane of the job's current phase. Its clock starts when it has its slot, and it runs at once: that it has
   * begun is no transition, and is recorded later.
   * @param beginsAttempt whether it is the first phase of its attempt
   */
  runWhenRoom(job: JobRecord, beginsAttempt: boolean): void {
    const { capacity, clock, pipelines } = this.#options;
    const phases = pipelines.get(job.pipeline)?.phases ?? [];
    const leave = capacity.wait(this.laneFor(job), () => {
      const start: PhaseStarted = { type: 'phaseStarted', at: clock.now(), beginsAttempt };
      this.run(job.timeoutAt === null ? job : { ...job, ...phaseStarted(job, start, phases) }, start);
    });
    this.#inLine.set(claimKey(job), { job, leave });
  }

  isRunning(claim: Claim): boolean {
    return this.#running.has(claimKey(claim));
  }

  /** Is a thread still at work on the job under a claim that has ended? Bounded by its grace period, so the next claim can wait for it. */
  isLeaving(jobId: string): boolean {
    return this.#leaving.has(jobId);
  }

  /** The lane of the job's current phase. */
  laneFor(job: JobRecord): string {
    const phase = this.#options.pipelines.get(job.pipeline)?.phases[job.phaseIndex];
    return phase ? laneOf(phase) : INLINE_LANE;
  }

  /** Tells the handler of this claim to stop; what it still returns is discarded. */
  stop(claim: Claim, reason: StopReason, detail?: string | null): void {
    const key = claimKey(claim);
    const waiting = this.#inLine.get(key);
    if (waiting) {
      waiting.leave();
      this.#inLine.delete(key);
      this.#options.onRoom();
    }
    const execution = this.#running.get(key);
    if (!execution) return;
    if (execution.isOnThread) this.#leaving.add(claim.id);
    execution.stop(new PhaseStoppedError(reason, detail));
  }

  /** The job is held by nobody any more: what was kept for its next phase may go. */
  rest(job: JobRecord): void {
    this.#hot.rest(job);
  }

  /** Shutdown, second part: asks every handler to stop. A result still counts; a failure becomes `event`. */
  stopAll(event: (at: number) => JobEvent): void {
    const { clock, post } = this.#options;
    this.#onShutdown = event;
    for (const { job, leave } of this.#inLine.values()) {
      leave();
      post({ jobId: job.id, fence: job.fence, event: event(clock.now()) });
    }
    this.#inLine.clear();
    for (const execution of this.#running.values()) execution.stop(new PhaseStoppedError('shutdown'));
  }

  /** Shutdown, last part: ends the threads of handlers that did not stop; answers with how many. Inline ones cannot be ended. */
  killAll(): number {
    return [...this.#running.values()].filter((execution) => execution.kill()).length;
  }

  /** Resolves as soon as no handler is running. */
  async idle(): Promise<void> {
    if (this.#running.size > 0) await new Promise<void>((resolve) => this.#idle.add(resolve));
  }

  /** Is there a phase after this one, and a slot for it? */
  #couldGoOn(job: JobRecord): boolean {
    const { pipelines, capacity } = this.#options;
    const next = pipelines.get(job.pipeline)?.phases[job.phaseIndex + 1];
    return next !== undefined && !capacity.isFull(laneOf(next));
  }

  async #finish(execution: Execution, lane: string, phase: string): Promise<void> {
    const { capacity, clock, post, onRoom } = this.#options;
    const began = clock.now();
    const outcome = await execution.outcome();
    const { job } = execution;
    this.#running.delete(claimKey(job));
    this.#leaving.delete(job.id);
    if (lane !== INLINE_LANE) this.#pace.note(lane, clock.now() - began);
    // Whoever waits for the slot runs now; what this run came to is committed meanwhile.
    const handedOn = capacity.free(lane);
    const event = execution.eventOf(outcome, this.#onShutdown);
    if (event) {
      const blobs = outcome.ok ? outcome.blobs : [];
      this.#hot.keep(job.id, phase, blobs);
      const mayWait = handedOn && lane !== INLINE_LANE && !this.#couldGoOn(job);
      post({ jobId: job.id, fence: job.fence, event, blobs }, mayWait ? GATHER_MS : undefined);
    } else {
      capacity.letGo(job.pipeline, claimKey(job));
      onRoom();
    }
    if (this.#running.size === 0) {
      for (const resolve of this.#idle) resolve();
      this.#idle.clear();
    }
  }
}
