/**
 * A pipeline's phases may change while jobs are unfinished. Which jobs can go on, and what becomes of
 * their phases, is decided here; finding and storing them is the store's business.
 */
import { freshPhase, overallProgress } from './lifecycle.ts';
import type { JobRecord } from './vocabulary.ts';

/** May a job that has finished the first `finished` phases of `stored` go on under `current`? */
export function canGoOn(stored: readonly string[], finished: number, current: readonly string[]): boolean {
  return finished < current.length && commonPrefix(stored, current) >= finished;
}

/** How many finished phases are kept when a job is moved to another list by force: there is always one left to run. */
export function keptPhases(stored: readonly string[], finished: number, current: readonly string[]): number {
  return Math.min(finished, commonPrefix(stored, current), current.length - 1);
}

/** The job as it stands under another phase list, with its first `kept` finished phases. */
export function carryOver(job: JobRecord, current: readonly string[], version: number, kept: number): JobRecord {
  const finished = job.phases.slice(0, kept);
  const results = Object.fromEntries(
    Object.entries(job.phaseResults).filter(([name]) => finished.some((phase) => phase.name === name)),
  );
  return {
    ...job,
    phases: [...finished, ...current.slice(kept).map(freshPhase)],
    phaseIndex: kept,
    phaseResults: results,
    currentPhase: job.currentPhase === null ? null : (current[kept] ?? null),
    progress: overallProgress(kept, 0, current.length),
    machineVersion: version,
  };
}

function commonPrefix(a: readonly string[], b: readonly string[]): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) if (a[i] !== b[i]) return i;
  return length;
}
