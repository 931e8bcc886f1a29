/** Runs one phase handler in this process and turns whatever comes of it into an outcome. */
import type { PhaseContext } from '../../actors/handler.ts';
import { requireJson } from '../../actors/json.ts';
import type { Disposition, JobRecord } from '../../actors/vocabulary.ts';
import { InvalidInputError, MillraceError } from '../errors.ts';
import { requireStorable } from '../options.ts';
import type { AnyPipeline, Phase } from '../pipeline.ts';

/** What came of a phase. `fallback` is the disposition when neither the error nor `classify` decides. */
export type Outcome =
  | { readonly ok: true; readonly result: unknown }
  | { readonly ok: false; readonly thrown: unknown; readonly fallback?: Disposition };

/** What a running phase needs from its surroundings. */
export interface PhaseRun {
  readonly pipeline: AnyPipeline;
  readonly phase: Phase;
  readonly job: JobRecord;
  readonly signal: AbortSignal;
  readonly maxPayloadBytes: number;
  onProgress(percent: number, message: string | null): void;
}

/** Never rejects. */
export async function runInline(run: PhaseRun): Promise<Outcome> {
  let data: unknown;
  try {
    data = run.pipeline.schema ? await validated(run.pipeline, run.job.data) : run.job.data;
  } catch (thrown) {
    return { ok: false, thrown, fallback: 'fatal' };
  }
  let result: unknown;
  try {
    const handler = run.phase.run as (job: JobRecord, ctx: PhaseContext) => unknown;
    // Their own copy: what handlers do to their data is not to be seen in events.
    result = await handler({ ...run.job, data: data === run.job.data ? copyOf(data) : data }, contextOf(run));
  } catch (thrown) {
    return { ok: false, thrown };
  }
  try {
    return { ok: true, result: result === undefined ? undefined : requireJson(result, 'result', run.maxPayloadBytes) };
  } catch (problem) {
    const where = `Phase "${run.phase.name}" of pipeline "${run.pipeline.name}" returned something that cannot be stored`;
    const thrown = new MillraceError('bad_result', `${where}: ${(problem as Error).message}.`, { cause: problem });
    return { ok: false, thrown, fallback: 'fatal' };
  }
}

/** Checks data against the pipeline's schema; answers with the schema's output. */
export async function validated(pipeline: AnyPipeline, data: unknown): Promise<unknown> {
  if (!pipeline.schema) return data;
  const outcome = await pipeline.schema['~standard'].validate(data);
  if (!outcome.issues) return outcome.value;
  const issues = outcome.issues.map(({ message, path }) => {
    const keys = path?.map((part) => (typeof part === 'object' ? part.key : part)).map(String);
    return keys?.length ? `${keys.join('.')}: ${message}` : message;
  });
  throw new InvalidInputError('data', `does not fit the input of pipeline "${pipeline.name}": ${issues.join('; ')}`);
}

function contextOf({ job, phase, signal, maxPayloadBytes, onProgress }: PhaseRun): PhaseContext {
  return {
    signal,
    phase: phase.name,
    attempt: job.attempt,
    idempotencyKey: `${job.id}:${phase.name}`,
    checkpoint: () => signal.throwIfAborted(),
    progress(percent, message) {
      requirePercent(percent);
      if (message !== undefined) requireMessage(message, maxPayloadBytes);
      if (!signal.aborted) onProgress(percent, message ?? null);
    },
    phaseResult(name) {
      if (!job.phases.some((known) => known.name === name)) {
        throw new InvalidInputError(
          'phaseResult',
          `pipeline "${job.pipeline}" has no phase "${name}"; it has ${job.phases.map((known) => known.name).join(', ')}.`,
        );
      }
      return copyOf(job.phaseResults[name]);
    },
    phaseResults: () => copyOf(job.phaseResults),
  };
}

function copyOf<T>(value: T): T {
  return typeof value === 'object' && value !== null ? structuredClone(value) : value;
}

function requirePercent(percent: unknown): void {
  if (typeof percent !== 'number' || !(percent >= 0 && percent <= 100)) {
    throw new InvalidInputError('progress', `is ${String(percent)}, but must be a number from 0 to 100.`);
  }
}

function requireMessage(message: unknown, maxBytes: number): void {
  if (typeof message !== 'string') throw new InvalidInputError('progress message', 'must be a string.');
  requireStorable(message, 'progress message', maxBytes);
}
