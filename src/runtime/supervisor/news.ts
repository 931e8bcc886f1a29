/** What a running phase tells before its outcome: that it has begun, how far it is, and its lines. */
import type { JobEvent, PhaseStarted } from '../../actors/job-events.ts';
import type { JobRecord } from '../../actors/vocabulary.ts';
import type { CancelTimer, Clock } from '../clock.ts';
import type { JobLogLine } from '../store/port.ts';
import type { Message } from './turn.ts';

export interface NewsOptions {
  readonly clock: Clock;
  /** Hands a message to the supervisor. */
  post(message: Message): void;
  log(line: JobLogLine): void;
}

/** How long a phase may run before its beginning is recorded by itself. */
const RECORD_MS = 25;
/** Lines kept of one attempt, and one more that says so. */
const MOST_LINES = 1_001;

export class News {
  readonly #job: JobRecord;
  readonly #phase: string;
  readonly #options: NewsOptions;
  readonly #cancelRecord: CancelTimer | null = null;
  #start: PhaseStarted | null;
  /** Progress on its way to the supervisor; later progress replaces it. */
  #pending: Message | null = null;
  #lines = 0;
  #closed = false;

  /** @param start that the phase begins now, if the job's record says otherwise */
  constructor(job: JobRecord, phase: string, start: PhaseStarted | null, options: NewsOptions) {
    this.#job = job;
    this.#phase = phase;
    this.#options = options;
    this.#start = start;
    // A short phase is over before its beginning is worth a commit; its outcome tells of both.
    if (start) this.#cancelRecord = options.clock.at(start.at + RECORD_MS, () => this.#recordStart());
  }

  /** When the phase began, as long as the record does not say so. */
  get unrecordedStart(): number | undefined {
    return this.#start?.at;
  }

  /** Nothing is told any more: a handler may leave something behind that goes on reporting. */
  close(): void {
    this.#closed = true;
    this.#cancelRecord?.();
  }

  progress(progress: number, message: string | null): void {
    if (this.#closed) return;
    // Its beginning first: it starts at zero.
    this.#recordStart();
    const event: JobEvent = { type: 'progressed', at: this.#options.clock.now(), progress, message };
    if (this.#pending) {
      this.#pending.event = event;
      return;
    }
    const onTaken = () => {
      this.#pending = null;
    };
    this.#pending = { jobId: this.#job.id, fence: this.#job.fence, event, onTaken };
    this.#options.post(this.#pending);
  }

  log({ at, level, text }: Pick<JobLogLine, 'at' | 'level' | 'text'>): void {
    if (this.#lines++ >= MOST_LINES) return;
    const { id: jobId, attempt } = this.#job;
    this.#options.log({ at, level, text, jobId, phase: this.#phase, attempt });
  }

  #recordStart(): void {
    const event = this.#start;
    if (!event || this.#closed) return;
    this.#start = null;
    this.#options.post({ jobId: this.#job.id, fence: this.#job.fence, event });
  }
}
