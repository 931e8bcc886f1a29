/**
 * What a user declares: a name, an input, phases in order and options. The builder carries every phase's
 * result type on to the next, so that a wrong phase name or result does not compile.
 */
import type { StandardSchemaV1 } from '@standard-schema/spec';
import type { PhaseContext } from '../actors/handler.ts';
import type { JobRecord } from '../actors/vocabulary.ts';
import { InvalidInputError } from './errors.ts';
import { requireBackoff, requireCount, requireName, requireOptions } from './options.ts';
import { type Phase, type PhaseOptions, requirePhase, type WorkerPhase } from './phase.ts';
import { type RetryOptions, RetryStrategy } from './retry-strategy.ts';

/** Options of a pipeline; all optional. */
export interface PipelineOptions {
  readonly retry?: RetryOptions;
  /** How many jobs of this pipeline one queue runs at a time. Default: as many as its lanes have room for. */
  readonly concurrency?: number;
  /** Limit for one attempt of a whole job, counted from the start of the attempt's first phase. Default: none. */
  readonly timeoutMs?: number;
}

declare const types: unique symbol;

type Handler<Data, Results, Result> = (
  job: JobRecord<string, Data>,
  ctx: PhaseContext<Results>,
) => Result | Promise<Result>;

/** A pipeline: its phases are what `active` looks like in the job's statechart. Every method returns a new one. */
export class Pipeline<Name extends string = string, In = unknown, Data = unknown, Results = object, Last = unknown> {
  /** Types only; never there at run time. */
  declare readonly [types]: { name: Name; in: In; data: Data; results: Results; last: Last };
  readonly name: Name;
  readonly phases: readonly Phase[];
  readonly schema: StandardSchemaV1 | null;
  readonly settings: PipelineOptions;
  readonly retry: RetryStrategy;

  /** Use {@link pipeline}. */
  constructor(name: Name, phases: readonly Phase[], schema: StandardSchemaV1 | null, settings: PipelineOptions) {
    this.name = name;
    this.phases = phases;
    this.schema = schema;
    this.settings = settings;
    this.retry = new RetryStrategy(settings.retry);
  }

  /** Declares the input's type alone. */
  input<T>(): Pipeline<Name, T, T, Results, Last>;
  /**
   * Declares the input by a Standard Schema (zod, valibot, arktype …). Checked at `enqueue`, and again before a job's handlers
   * run, which receive the schema's output; stored is what was given.
   */
  input<S extends StandardSchemaV1>(
    schema: S,
  ): Pipeline<Name, StandardSchemaV1.InferInput<S>, StandardSchemaV1.InferOutput<S>, Results, Last>;
  input(schema?: StandardSchemaV1): Pipeline<Name, never, never, Results, Last> {
    if (schema !== undefined && typeof schema?.['~standard']?.validate !== 'function') {
      throw new InvalidInputError(
        `pipeline "${this.name}".input`,
        'takes a Standard Schema, or nothing but a type argument.',
      );
    }
    return new Pipeline(this.name, this.phases, schema ?? null, this.settings);
  }

  /** Adds a phase that runs in this process. Use it for I/O; CPU-heavy work would block the event loop. */
  phase<const P extends string, Result>(
    name: P,
    handler: Handler<Data, Results, Result>,
    options?: PhaseOptions,
  ): Pipeline<Name, In, Data, Results & { readonly [K in P]: Awaited<Result> }, Awaited<Result>>;
  /** Adds a phase that runs on a thread: CPU-heavy work that can always be stopped. */
  phase<const P extends string, Result = unknown>(
    name: P,
    worker: WorkerPhase<Result>,
  ): Pipeline<Name, In, Data, Results & { readonly [K in P]: Result }, Result>;
  phase(name: string, given: unknown, options: PhaseOptions = {}): Pipeline<Name, In, Data, never, never> {
    const field = `pipeline "${this.name}".phase`;
    requireName(name, field);
    if (this.phases.some((phase) => phase.name === name)) {
      throw new InvalidInputError(field, `"${name}" is declared twice; phase names must differ.`);
    }
    const phase = requirePhase(name, given, options, field);
    return new Pipeline(this.name, [...this.phases, phase], this.schema, this.settings);
  }

  /** Sets options; later calls add to earlier ones. */
  options(settings: PipelineOptions): Pipeline<Name, In, Data, Results, Last> {
    const field = `pipeline "${this.name}".options`;
    requireOptions(settings, field, ['retry', 'concurrency', 'timeoutMs']);
    requireCount(settings.concurrency, `${field}.concurrency`, 1);
    requireCount(settings.timeoutMs, `${field}.timeoutMs`, 1);
    requireRetry(settings.retry, `${field}.retry`);
    return new Pipeline(this.name, this.phases, this.schema, { ...this.settings, ...settings });
  }
}

/** Starts the declaration of a pipeline. */
export function pipeline<const Name extends string>(name: Name): Pipeline<Name> {
  requireName(name, 'pipeline');
  return new Pipeline(name, [], null, {});
}

function requireRetry(retry: RetryOptions | undefined, field: string): void {
  if (retry === undefined) return;
  requireOptions(retry, field, ['maxAttempts', 'backoff', 'classify', 'disposition']);
  requireCount(retry.maxAttempts, `${field}.maxAttempts`, 1);
  if (retry.classify !== undefined && typeof retry.classify !== 'function') {
    throw new InvalidInputError(`${field}.classify`, 'takes a function from an error to "recoverable" or "fatal".');
  }
  if (retry.disposition !== undefined && !['recoverable', 'fatal'].includes(retry.disposition)) {
    throw new InvalidInputError(`${field}.disposition`, 'is "recoverable" or "fatal".');
  }
  requireBackoff(retry.backoff, `${field}.backoff`);
}

/** Any pipeline, for lists of them. */
// biome-ignore lint/suspicious/noExplicitAny: variance makes every concrete pipeline fit only this
export type AnyPipeline = Pipeline<string, any, any, any, any>;

/** The name of a pipeline. */
export type NameOf<P extends AnyPipeline> = P[typeof types]['name'];
/** What `enqueue` takes for a pipeline. */
export type InputOf<P extends AnyPipeline> = P[typeof types]['in'];
/** The results of a pipeline's phases, by name. */
export type ResultsOf<P extends AnyPipeline> = P[typeof types]['results'];
/** The result of a pipeline's last phase. */
export type ResultOf<P extends AnyPipeline> = P[typeof types]['last'];
/** The record of a pipeline's jobs; a union over a union of pipelines, told apart by `pipeline`. */
export type JobOf<P extends AnyPipeline> = P extends AnyPipeline
  ? JobRecord<NameOf<P>, InputOf<P>, ResultsOf<P>>
  : never;
