/** Decides how many jobs to claim and of which kind, and wakes the supervisor when the next one is due. No polling. */
import type { JobEvent } from '../../actors/job-events.ts';
import type { Failure, JobRecord } from '../../actors/vocabulary.ts';
import type { CancelTimer, Clock } from '../clock.ts';
import { laneOf } from '../phase.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { Change, ClaimRequest, Want } from '../store/port.ts';
import { type Booking, type Capacity, claimKey } from './capacity.ts';
import type { Turn } from './turn.ts';

export interface DispatcherOptions {
  readonly pipelines: ReadonlyMap<string, AnyPipeline>;
  readonly capacity: Capacity;
  readonly clock: Clock;
  readonly owner: string;
  readonly leaseMs: number;
  /** How many phases the longest list had that a pipeline's jobs were ever born under. */
  readonly mostPhases: ReadonlyMap<string, number>;
  /** Is a thread still at work on the job under an earlier claim? */
  isLeaving(jobId: string): boolean;
  /** Fail jobs whose phases the program no longer has (`onPhasesChanged: 'fail'`), instead of leaving them to another program. */
  readonly givesUp: boolean;
  /** Pipelines not to be claimed from until {@link Dispatcher.unbar}. */
  readonly barred: Iterable<string>;
  wake(): void;
  /** Told what a judgement throws; the job is left where it is. */
  onError(error: unknown): void;
}

export class Dispatcher {
  readonly #options: DispatcherOptions;
  #open = true;
  /** Pipelines whose handlers have not been found good. */
  readonly #barred: Set<string>;
  #alarm: CancelTimer | null = null;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#barred = new Set(options.barred);
  }

  /** The pipeline's handlers are good: its jobs may be claimed. */
  unbar(pipeline: string): void {
    this.#barred.delete(pipeline);
    this.#options.wake();
  }

  /** No more claims from now on. */
  close(): void {
    this.#open = false;
    this.#alarm?.();
    this.#alarm = null;
  }

  /** What to claim in this turn; `null` if there is no room at all. */
  request(turn: Turn, booking: Booking): ClaimRequest | null {
    if (!this.#open) return null;
    const { capacity, clock } = this.#options;
    const wants = this.#wants();
    if (wants.length === 0) return null;
    const now = clock.now();
    /** Lanes in whose line a job stands that is not claimed ahead; nor are those behind it. */
    const noLead = new Set<string>();
    return {
      now,
      wants,
      admit: ({ pipeline, phaseIndex }) => {
        const lane = this.#lane(pipeline, phaseIndex);
        const room = noLead.has(lane) ? !capacity.isFull(lane) : capacity.laneRoom(lane) > 0;
        return room && capacity.pipelineRoom(pipeline) > 0;
      },
      judge: (job) => {
        // A crash would take its last attempt before it has begun.
        const lane = this.#lane(job.pipeline, job.phaseIndex);
        if (job.attempt + 1 < job.maxAttempts || !capacity.isFull(lane))
          return this.#claimSafely(turn, job, now, booking);
        noLead.add(lane);
        return null;
      },
    };
  }

  /** Sets the alarm for the next due job. */
  dueAt(time: number | null): void {
    this.#alarm?.();
    this.#alarm = time === null || !this.#open ? null : this.#options.clock.at(time, () => this.#options.wake());
  }

  #wants(): Want[] {
    const { pipelines, capacity, mostPhases } = this.#options;
    const wants: Want[] = [];
    for (const [name, { phases }] of pipelines) {
      if (this.#barred.has(name)) continue;
      const places = capacity.pipelineRoom(name);
      // Jobs of longer lists than the present one are found, too: they are carried over, or given up.
      const count = Math.max(phases.length, mostPhases.get(name) ?? 0);
      for (let phaseIndex = 0; phaseIndex < count; phaseIndex++) {
        const lane = this.#lane(name, phaseIndex);
        const limit = Math.min(places, capacity.laneRoom(lane));
        const goesOn = limit > 0 && phases.slice(phaseIndex + 1).map(laneOf);
        if (goesOn && !goesOn.some((next) => next !== lane && capacity.isCrowded(next))) {
          wants.push({ pipeline: name, phaseIndex, limit });
        }
      }
    }
    return wants;
  }

  #lane(pipeline: string, phaseIndex: number): string {
    const phases = this.#options.pipelines.get(pipeline)?.phases ?? [];
    const phase = phases[phaseIndex] ?? phases.at(-1);
    return phase ? laneOf(phase) : '';
  }

  /** One job that cannot be judged must not keep all others from being claimed. */
  #claimSafely(turn: Turn, job: JobRecord, now: number, booking: Booking): Change | null {
    try {
      return this.#claim(turn, job, now, booking);
    } catch (error) {
      this.#options.onError(new Error(`Job "${job.id}" cannot be claimed and is left alone.`, { cause: error }));
      return null;
    }
  }

  /** A due job is claimed, unless it has expired unstarted. One whose phases are not ours is for whoever wrote it, or to be given up. */
  #claim(turn: Turn, job: JobRecord, now: number, booking: Booking): Change | null {
    const { owner, leaseMs, givesUp, isLeaving } = this.#options;
    // It is claimed when its thread is gone: two handlers of one job must not run side by side.
    if (isLeaving(job.id)) return null;
    const expired = job.expiresAt !== null && job.expiresAt <= now && job.startedAt === null;
    if (!expired && !turn.canRun(job) && !givesUp) return null;
    const event: JobEvent = expired
      ? { type: 'cancel', at: now, reason: 'expired' }
      : turn.canRun(job)
        ? { type: 'claimed', at: now, owner, leaseExpiresAt: now + leaseMs }
        : { type: 'abandoned', at: now, failure: phasesGone(job) };
    const change = turn.judgeStored(job, [{ jobId: job.id, event }]);
    if (change?.job.status === 'active') {
      // Of the change, not of the row: under another phase list the job may go on from another place.
      const { pipeline, phaseIndex } = change.job;
      booking.takeAll(claimKey(change.job), this.#lane(pipeline, phaseIndex), pipeline);
    }
    return change;
  }
}

/** The failure of a job whose phases the program no longer has. */
export function phasesGone(job: JobRecord): Failure {
  const phases = job.phases.map((phase) => phase.name).join(', ');
  return {
    name: 'PhasesChangedError',
    code: 'phases_changed',
    message: `Pipeline "${job.pipeline}" no longer has the phases [${phases}] this job was born under.`,
  };
}
