/** Main bank: looks at a thread's CPU time from outside, for phases that may use only so much. Works in a tight loop, too. */
import { openCpuTime } from './cpu-time.ts';
import { CPU_START, WORDS, Word } from './messages.ts';

/** What the thread has used since its phase began, in milliseconds; `null` where nobody can tell. */
export function cpuUsed(memory: SharedArrayBuffer): number | null {
  const osThreadId = new Int32Array(memory, 0, WORDS)[Word.osThreadId] ?? 0;
  const start = new Float64Array(memory, CPU_START, 1)[0] ?? Number.NaN;
  // Zero: the thread has not begun, or this system does not number its threads for us.
  if (osThreadId === 0 || Number.isNaN(start)) return null;
  const clock = openCpuTime(osThreadId);
  const now = clock?.read() ?? null;
  clock?.close();
  return now === null ? null : now - start;
}

/** Twenty looks within the budget, but no more than 200 a second and no fewer than four. */
const SHORTEST_LOOK_MS = 5;
const LONGEST_LOOK_MS = 250;

export class CpuWatch {
  readonly #timer: NodeJS.Timeout;

  /** @param onOver called once with what was used */
  constructor(memory: SharedArrayBuffer, budgetMs: number, onOver: (used: number) => void) {
    const every = Math.min(Math.max(budgetMs / 20, SHORTEST_LOOK_MS), LONGEST_LOOK_MS);
    this.#timer = setInterval(() => {
      const used = cpuUsed(memory);
      if (used === null || used <= budgetMs) return;
      this.close();
      onOver(used);
    }, every);
    this.#timer.unref();
  }

  close(): void {
    clearInterval(this.#timer);
  }
}
