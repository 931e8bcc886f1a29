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
    return {
      now,
      wants,
      admit: (want) => capacity.laneRoom(this.#lane(want)) > 0 && capacity.pipelineRoom(want.pipeline) > 0,
      judge: (job) => this.#claimSafely(turn, job, now, booking),
    };
  }

  /** Sets the alarm for the next due job. */
  dueAt(time: number | null): void {
    this.#alarm?.();
    this.#alarm = time === null || !this.#open ? null : this.#options.clock.at(time, () => this.#options.wake());
  }

  #wants(): Want[] {
    const { pipelines, capacity } = this.#options;
    const wants: Want[] = [];
    for (const [name, { phases }] of pipelines) {
      if (this.#barred.has(name)) continue;
      const places = capacity.pipelineRoom(name);
      phases.forEach((phase, phaseIndex) => {
        const limit = Math.min(places, capacity.laneRoom(laneOf(phase)));
        if (limit > 0) wants.push({ pipeline: name, phaseIndex, limit });
      });
    }
    return wants;
  }

  #lane(want: Want): string {
    const phase = this.#options.pipelines.get(want.pipeline)?.phases[want.phaseIndex];
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
    const { owner, leaseMs, givesUp } = this.#options;
    const expired = job.expiresAt !== null && job.expiresAt <= now && job.startedAt === null;
    if (!expired && !turn.canRun(job) && !givesUp) return null;
    const event: JobEvent = expired
      ? { type: 'cancel', at: now, reason: 'expired' }
      : turn.canRun(job)
        ? { type: 'claimed', at: now, owner, leaseExpiresAt: now + leaseMs }
        : { type: 'abandoned', at: now, failure: phasesGone(job) };
    const change = turn.judgeStored(job, [{ jobId: job.id, event }]);
    if (change?.job.status === 'active') {
      const lane = this.#lane({ pipeline: job.pipeline, phaseIndex: job.phaseIndex, limit: 1 });
      booking.takeAll(claimKey(change.job), lane, job.pipeline);
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
