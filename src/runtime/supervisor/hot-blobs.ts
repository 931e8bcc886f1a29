/**
 * Binary results that are still in memory: the last phase's go to the next one without being read back, and shared memory
 * lives nowhere else. Everything durable is in the store already.
 */
import type { Blob } from '../../actors/blobs.ts';
import type { JobRecord } from '../../actors/vocabulary.ts';
import type { CarriedBlobs } from '../../threads/messages.ts';

export class HotBlobs {
  readonly #carried = new Map<string, CarriedBlobs>();
  readonly #shared = new Map<string, Map<string, readonly Blob[]>>();

  /** Keeps the binary values of a phase that has just completed. */
  keep(jobId: string, phase: string, blobs: readonly Blob[]): void {
    if (blobs.length === 0) return;
    this.#carried.set(jobId, { phase, blobs });
    const shared = blobs.filter(({ kind }) => kind === 'SharedArrayBuffer');
    if (shared.length === 0) return;
    const phases = this.#shared.get(jobId) ?? new Map<string, readonly Blob[]>();
    this.#shared.set(jobId, phases.set(phase, shared));
  }

  /** Hands them to the next phase, once: it may write to them, or move them to a thread. */
  take(jobId: string): CarriedBlobs | null {
    const carried = this.#carried.get(jobId) ?? null;
    this.#carried.delete(jobId);
    return carried;
  }

  /** The shared memory of an earlier phase. */
  sharedOf(jobId: string, phase: string): readonly Blob[] {
    return this.#shared.get(jobId)?.get(phase) ?? [];
  }

  /** The job is at rest. Shared memory waits for its next attempt, if there may be one. */
  rest({ id, status }: JobRecord): void {
    this.#carried.delete(id);
    if (status !== 'pending' && status !== 'retrying' && status !== 'paused') this.#shared.delete(id);
  }
}
