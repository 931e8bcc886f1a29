/** Awaiting the end of a job: from the events of this process, and now and then from the store, in case another process ends it. */
import { withBlobs } from '../actors/blobs.ts';
import type { JobRecord } from '../actors/vocabulary.ts';
import type { CancelTimer, Clock } from './clock.ts';
import { JobCancelledError, JobFailedError, NotFoundError } from './errors.ts';
import type { Store } from './store/port.ts';

/** A phase's result with the bytes it refers to. Shared memory, which is nowhere stored, stays a reference. */
export async function resultWithBlobs(store: Store, job: JobRecord, phase: string): Promise<unknown> {
  const value = job.phaseResults[phase];
  const blobs = job.phases.find(({ name }) => name === phase)?.blobs ?? 0;
  return blobs === 0 ? value : withBlobs(value, await store.blobs(job.id, phase));
}

interface Waiter {
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

const LOOK_EVERY_MS = 1_000;

export class Results {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Waiter[]>();
  #cancelLook: CancelTimer | null = null;
  /** Somebody awaits an answer: the process must live to give it. */
  #keepAlive: NodeJS.Timeout | null = null;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Resolves with the last phase's result once the job has completed. */
  async wait(id: string): Promise<unknown> {
    const ended = new Promise<unknown>((resolve, reject) => {
      this.#waiters.set(id, [...(this.#waiters.get(id) ?? []), { resolve, reject }]);
    });
    // Listen first, then look: an end between the two is not missed.
    this.#keepAlive ??= setInterval(() => {}, 2 ** 30);
    this.#lookLater();
    this.#look([id]).catch((error: unknown) => this.#settle(id, (waiter) => waiter.reject(error)));
    return ended;
  }

  /** A transition of some job was committed. */
  told(job: JobRecord): void {
    if (!this.#waiters.has(job.id)) return;
    if (job.status === 'failed') this.#settle(job.id, (waiter) => waiter.reject(new JobFailedError(job)));
    else if (job.status === 'cancelled') {
      this.#settle(job.id, (waiter) => waiter.reject(new JobCancelledError(job.id, job.reason)));
    } else if (job.status === 'deleted') this.#settle(job.id, (waiter) => waiter.reject(new NotFoundError(job.id)));
    else if (job.status === 'completed' || job.status === 'stale') this.#finish(job);
  }

  /** Nobody will be answered any more. */
  close(error: unknown): void {
    this.#cancelLook?.();
    for (const id of [...this.#waiters.keys()]) this.#settle(id, (waiter) => waiter.reject(error));
  }

  /** A stale job has ended in one of three ways, which its phases still tell. */
  #finish(job: JobRecord): void {
    if (job.phaseIndex === job.phases.length) {
      const result = resultWithBlobs(this.#store, job, job.phases.at(-1)?.name ?? '');
      // Resolved with a promise: the bytes, if there are any, are read before anybody is answered.
      this.#settle(job.id, (waiter) => waiter.resolve(result));
    } else if (job.phases.some((phase) => phase.status === 'cancelled')) {
      this.#settle(job.id, (waiter) => waiter.reject(new JobCancelledError(job.id, job.reason)));
    } else this.#settle(job.id, (waiter) => waiter.reject(new JobFailedError(job)));
  }

  #settle(id: string, how: (waiter: Waiter) => void): void {
    const waiters = this.#waiters.get(id) ?? [];
    this.#waiters.delete(id);
    waiters.forEach(how);
    if (this.#waiters.size > 0 || !this.#keepAlive) return;
    clearInterval(this.#keepAlive);
    this.#keepAlive = null;
  }

  async #look(ids: readonly string[]): Promise<void> {
    const jobs = await this.#store.getJobs(ids);
    const found = new Set(jobs.map((job) => job.id));
    for (const job of jobs) this.told(job);
    for (const id of ids) {
      if (!found.has(id)) this.#settle(id, (waiter) => waiter.reject(new NotFoundError(id)));
    }
  }

  #lookLater(): void {
    if (this.#cancelLook) return;
    this.#cancelLook = this.#clock.at(this.#clock.now() + LOOK_EVERY_MS, () => {
      this.#cancelLook = null;
      if (this.#waiters.size === 0) return;
      // A store that is busy now will be asked again in a second.
      this.#look([...this.#waiters.keys()])
        .catch(() => {})
        .finally(() => this.#lookLater());
    });
  }
}
