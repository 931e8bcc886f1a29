/** Thread bank: what one phase uses. */
import { performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { threadId } from 'node:worker_threads';
import type { PhaseUsage } from '../actors/vocabulary.ts';
import { createOwnCpuTime, osThreadId } from './cpu-time.ts';
import { CPU_START, WORDS, Word } from './messages.ts';
import { round } from './rounding.ts';

const cpuTime = createOwnCpuTime();
const ownOsThreadId = osThreadId();

export class Meter {
  readonly #wallStart = performance.now();
  readonly #cpuStart = cpuTime();
  readonly #loopStart = performance.eventLoopUtilization();
  #peakHeap = 0;
  #peakExternal = 0;

  /** Notes in the shared memory what the main thread needs to measure from outside. */
  constructor(memory: SharedArrayBuffer) {
    const words = new Int32Array(memory, 0, WORDS);
    Atomics.store(words, Word.threadId, threadId);
    words[Word.osThreadId] = ownOsThreadId;
    new Float64Array(memory, CPU_START, 1)[0] = this.#cpuStart ?? Number.NaN;
  }

  /** Looks at the memory in use; answers with the bytes outside the heap. */
  sample(): number {
    const { used_heap_size: heap, external_memory: external } = getHeapStatistics();
    this.#peakHeap = Math.max(this.#peakHeap, heap);
    this.#peakExternal = Math.max(this.#peakExternal, external);
    return external;
  }

  read(bytesIn: number, bytesOut: number): PhaseUsage {
    const cpuEnd = cpuTime();
    const { utilization } = performance.eventLoopUtilization(this.#loopStart);
    return {
      threadId,
      wallMs: round(performance.now() - this.#wallStart),
      cpuMs: cpuEnd === null || this.#cpuStart === null ? null : round(cpuEnd - this.#cpuStart),
      peakHeapBytes: this.#peakHeap,
      peakExternalBytes: this.#peakExternal,
      utilization: Number.isFinite(utilization) ? round(utilization) : null,
      bytesIn,
      bytesOut,
    };
  }
}
