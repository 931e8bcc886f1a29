/** The `ctx` of a handler, the same on whichever side it runs. What differs is handed in. */
import { InvalidInputError } from './errors.ts';
import type { PhaseContext } from './handler.ts';
import { requireStorable } from './json.ts';
import type { JobRecord, LogLine } from './vocabulary.ts';

/** What a context is made of. */
export interface ContextParts {
  readonly job: JobRecord;
  readonly phase: string;
  /** Asked for only when a handler does: many never look at it, and it is not cheap. */
  signal(): AbortSignal;
  /** Must the phase stop? */
  isStopped(): boolean;
  readonly maxPayloadBytes: number;
  checkpoint(): void;
  /** Called with valid values only. */
  onProgress(percent: number, message: string | null): void;
  onLog(level: LogLine['level'], text: string): void;
  /** The result of a phase, bytes included, as a copy of the handler's own. */
  resultOf(name: string): unknown;
}

export function createPhaseContext(parts: ContextParts): PhaseContext {
  const { job, phase, maxPayloadBytes } = parts;
  return {
    get signal() {
      return parts.signal();
    },
    phase,
    attempt: job.attempt,
    idempotencyKey: `${job.id}:${phase}`,
    checkpoint: parts.checkpoint,
    progress(percent, message) {
      requirePercent(percent);
      if (message !== undefined) requireMessage(message, maxPayloadBytes);
      if (!parts.isStopped()) parts.onProgress(percent, message ?? null);
    },
    log(text, level = 'info') {
      parts.onLog(requireLevel(level), String(text));
    },
    phaseResult(name) {
      if (!job.phases.some((known) => known.name === name)) {
        const names = job.phases.map((known) => known.name).join(', ');
        throw new InvalidInputError(
          'phaseResult',
          `pipeline "${job.pipeline}" has no phase "${name}"; it has ${names}.`,
        );
      }
      return parts.resultOf(name);
    },
    phaseResults() {
      return Object.fromEntries(Object.keys(job.phaseResults).map((name) => [name, parts.resultOf(name)]));
    },
  };
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

const LEVELS: readonly LogLine['level'][] = ['debug', 'info', 'warn', 'error'];

function requireLevel(level: LogLine['level']): LogLine['level'] {
  if (LEVELS.includes(level)) return level;
  throw new InvalidInputError('log level', `is ${String(level)}, but must be one of ${LEVELS.join(', ')}.`);
}
