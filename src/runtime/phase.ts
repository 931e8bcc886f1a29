/** What a phase is: a function that runs in this process, or a file whose function runs on a thread. */
import type { PhaseHandler } from '../actors/handler.ts';
import { whyNotThere } from '../threads/probe.ts';
import { LONGEST_TIMER_MS } from './clock.ts';
import { InvalidInputError } from './errors.ts';
import { requireBoolean, requireCount, requireName, requireOptions, show } from './options.ts';

/** Options of a phase that runs in this process. */
export interface PhaseOptions {
  /** Stop the phase this long after it started; the attempt then fails with code `timeout`. Default: no limit. */
  readonly timeoutMs?: number;
}

/** Options of a phase that runs on a thread. */
export interface WorkerOptions extends PhaseOptions {
  /** Which export of the file is the handler. Default: `default`. */
  readonly export?: string;
  /** The named pool to run in (see `threads.pools`). Default: the queue's own. */
  readonly pool?: string;
  /** How long the handler has to stop when asked, before its thread is ended. Default 1,000. */
  readonly graceMs?: number;
  /** CPU time the phase may use; then it is stopped and the attempt fails with outcome `timeout`. Default: no limit. */
  readonly cpuMs?: number;
  /** Heap limit, and limit of buffers outside the heap, in MiB; past it the attempt fails with outcome `out_of_memory`. Default: the pool's. */
  readonly memoryMb?: number;
  /** Results may hold SharedArrayBuffers: handed on by reference, never stored, and lost when the process ends. Default false. */
  readonly shared?: boolean;
}

declare const resultType: unique symbol;

/** A phase on a thread. {@link worker} makes one that remembers the type of its result. */
export interface WorkerPhase<Result = unknown> extends WorkerOptions {
  /** The handler's file: `new URL('./resize.js', import.meta.url)`. */
  readonly worker: URL;
  /** For the compiler alone. */
  readonly [resultType]?: Result;
}

type AnyHandler = (...args: never[]) => unknown;

/** The names under which a module exports functions. */
export type HandlerName<Module> = {
  [Name in keyof Module & string]: Module[Name] extends AnyHandler ? Name : never;
}[keyof Module & string];

/** The result of a handler module's export. */
export type WorkerResult<Module, Name extends HandlerName<Module>> = Module[Name] extends (
  ...args: never[]
) => infer Result
  ? Awaited<Result>
  : never;

/**
 * Declares a phase on a thread whose result type is that of the handler's module.
 *
 * ```ts
 * .phase('resize', worker<typeof import('./resize.js')>(new URL('./resize.js', import.meta.url), { timeoutMs: 60_000 }))
 * ```
 */
export function worker<Module extends { readonly default: AnyHandler }>(
  url: URL,
  options?: WorkerOptions & { readonly export?: 'default' },
): WorkerPhase<WorkerResult<Module, 'default' & HandlerName<Module>>>;
/** The same for an export with a name: `worker<typeof import('./images.js'), 'resize'>(url, { export: 'resize' })`. */
export function worker<Module, Name extends HandlerName<Module>>(
  url: URL,
  options: WorkerOptions & { readonly export: Name },
): WorkerPhase<WorkerResult<Module, Name>>;
export function worker(url: URL, options: WorkerOptions = {}): WorkerPhase<never> {
  return { ...options, worker: url };
}

/** One phase, ready to run. */
export interface Phase {
  readonly name: string;
  readonly timeoutMs: number | null;
  readonly work: InlineWork | ThreadWork;
}

export interface InlineWork {
  readonly kind: 'inline';
  readonly run: PhaseHandler<never, never>;
}

export interface ThreadWork {
  readonly kind: 'thread';
  readonly file: string;
  readonly export: string;
  readonly pool: string;
  readonly graceMs: number;
  readonly cpuMs: number | null;
  readonly memoryMb: number | null;
  readonly shared: boolean;
}

/** The pool of phases that name none. */
export const DEFAULT_POOL = 'default';
const DEFAULT_GRACE_MS = 1_000;

/** The lane a phase runs in: limits of concurrency are limits of lanes. */
export function laneOf({ work }: Phase): string {
  return work.kind === 'inline' ? INLINE_LANE : threadLane(work.pool);
}

export const INLINE_LANE = 'inline';

export function threadLane(pool: string): string {
  return `threads/${pool}`;
}

/** Checks what was given to `.phase(name, …)`. */
export function requirePhase(name: string, given: unknown, options: PhaseOptions, field: string): Phase {
  const where = `${field}("${name}")`;
  if (typeof given === 'function') {
    requireOptions(options, where, ['timeoutMs']);
    requireCount(options.timeoutMs, `${where}.timeoutMs`, 1);
    return { name, timeoutMs: options.timeoutMs ?? null, work: { kind: 'inline', run: given as InlineWork['run'] } };
  }
  if (typeof given !== 'object' || given === null || !('worker' in given)) {
    throw new InvalidInputError(where, 'takes a handler function, or { worker: URL }, as its second argument.');
  }
  return requireWorker(name, given as WorkerPhase, where);
}

const WORKER_KEYS = [
  'worker',
  'export',
  'pool',
  'timeoutMs',
  'graceMs',
  'cpuMs',
  'memoryMb',
  'shared',
] as const satisfies readonly (keyof WorkerPhase)[];

function requireWorker(name: string, given: WorkerPhase, where: string): Phase {
  requireOptions(given, where, WORKER_KEYS);
  requireCount(given.timeoutMs, `${where}.timeoutMs`, 1);
  requireCount(given.graceMs, `${where}.graceMs`, 0);
  requireCount(given.cpuMs, `${where}.cpuMs`, 1);
  requireCount(given.memoryMb, `${where}.memoryMb`, 8);
  requireBoolean(given.shared, `${where}.shared`);
  if (given.pool !== undefined) requireName(given.pool, `${where}.pool`);
  if (given.export !== undefined && (typeof given.export !== 'string' || given.export === '')) {
    throw new InvalidInputError(`${where}.export`, `is ${show(given.export)}, but must be the name of an export.`);
  }
  if (!(given.worker instanceof URL)) {
    throw new InvalidInputError(`${where}.worker`, "must be a URL: new URL('./handler.js', import.meta.url).");
  }
  const problem = whyNotThere(given.worker.href);
  if (problem !== null) throw new InvalidInputError(`${where}.worker`, `${problem}.`);
  const { cpuMs = null, memoryMb = null, shared = false } = given;
  const { export: exported = 'default', pool = DEFAULT_POOL } = given;
  const graceMs = Math.min(given.graceMs ?? DEFAULT_GRACE_MS, LONGEST_TIMER_MS);
  const work = { kind: 'thread', file: given.worker.href, export: exported, pool, graceMs, cpuMs, memoryMb, shared };
  return { name, timeoutMs: given.timeoutMs ?? null, work: work as ThreadWork };
}
