/** Runs one phase handler in this process and turns whatever comes of it into an outcome. */
import { type Blob, withBlobs } from '../../actors/blobs.ts';
import type { PhaseContext } from '../../actors/handler.ts';
import { requireJsonWithBlobs } from '../../actors/json.ts';
import { createPhaseContext } from '../../actors/phase-context.ts';
import { Stopping } from '../../actors/stopping.ts';
import type { JobRecord, LogLine } from '../../actors/vocabulary.ts';
import { copied } from '../../threads/blob-transfer.ts';
import { MillraceError } from '../errors.ts';
import type { InlineWork } from '../phase.ts';
import type { Outcome, RunningPhase } from './outcome.ts';

/** What a running phase needs from its surroundings. */
export interface PhaseRun {
  readonly phase: string;
  /** With the schema's output as its data. */
  readonly job: JobRecord;
  readonly maxPayloadBytes: number;
  readonly maxBlobBytes: number;
  onProgress(percent: number, message: string | null): void;
  onLog(line: Pick<LogLine, 'at' | 'level' | 'text'>): void;
}

/** @param blobs the binary values of earlier results, by phase */
export function startInline(
  work: InlineWork,
  run: PhaseRun,
  blobs: ReadonlyMap<string, readonly Blob[]>,
): RunningPhase {
  const stopping = new Stopping();
  return { outcome: runInline(work, run, blobs, stopping), stop: (reason) => stopping.stop(reason) };
}

async function runInline(
  work: InlineWork,
  run: PhaseRun,
  blobs: ReadonlyMap<string, readonly Blob[]>,
  stopping: Stopping,
): Promise<Outcome> {
  const { job, phase, maxPayloadBytes, maxBlobBytes } = run;
  const ctx = createPhaseContext({
    job,
    phase,
    signal: () => stopping.signal,
    isStopped: () => stopping.reason !== null,
    maxPayloadBytes,
    checkpoint: () => stopping.checkpoint(),
    onProgress: run.onProgress,
    onLog: (level, text) => run.onLog({ at: Date.now(), level, text }),
    resultOf: (name) => resultOf(job, name, blobs),
  });
  let returned: unknown;
  try {
    returned = await (work.run as (job: JobRecord, ctx: PhaseContext) => unknown)(job, ctx);
  } catch (thrown) {
    return { ok: false, thrown, outcome: 'threw', usage: null };
  }
  if (returned === undefined) return { ok: true, result: undefined, blobs: [], usage: null };
  try {
    const result = requireJsonWithBlobs(returned, 'result', maxPayloadBytes, { maxBlobBytes, shared: false });
    // The handler may go on writing to its buffers.
    return { ok: true, result: result.value, blobs: result.blobs.map(copied), usage: null };
  } catch (problem) {
    return { ok: false, thrown: unstorable(job.pipeline, phase, problem), outcome: 'bad_result', usage: null };
  }
}

function resultOf(job: JobRecord, name: string, blobs: ReadonlyMap<string, readonly Blob[]>): unknown {
  const value = job.phaseResults[name];
  const own = blobs.get(name);
  // A copy either way: what a handler does to it is not to be seen in events, or by the next phase.
  return own ? withBlobs(value, own) : structuredClone(value);
}

/** The error of a result that cannot be stored. */
export function unstorable(pipeline: string, phase: string, problem: unknown): MillraceError {
  const where = `Phase "${phase}" of pipeline "${pipeline}" returned something that cannot be stored`;
  return new MillraceError('bad_result', `${where}: ${(problem as Error).message}.`, { cause: problem });
}
