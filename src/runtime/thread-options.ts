/** How many threads there are, and how they are made. */
import { availableParallelism } from 'node:os';
import { inheritedExecArgv } from '../threads/exec-argv.ts';
import { InvalidInputError } from './errors.ts';
import { requireBoolean, requireCount, requireName, requireOneOf, requireOptions } from './options.ts';
import { DEFAULT_POOL } from './phase.ts';
import type { AnyPipeline } from './pipeline.ts';

/** Options of one pool of threads. */
export interface PoolOptions {
  /** How many threads. Default: the machine's parallelism minus one, at least one. */
  readonly count?: number;
  /** Heap limit of each thread, in MiB. Default: Node's own. */
  readonly memoryMb?: number;
  /** Node options for the threads. Default: those of the process. */
  readonly execArgv?: readonly string[];
  /** Environment of the threads. Default: a copy of the process's. */
  readonly env?: Readonly<Record<string, string>>;
}

/** Options of the queue's threads. */
export interface ThreadOptions extends PoolOptions {
  /** Pools besides the queue's own, by the name phases give as `pool`: a slow pipeline in its own cannot starve another. */
  readonly pools?: Readonly<Record<string, PoolOptions>>;
  /** Also print what handlers write to the console; it is kept as the job's log in any case. Default false. */
  readonly printLogs?: boolean;
  /**
   * What a handler that cannot be loaded is: an `error` (default; jobs of its pipeline are left alone, and `queue.ready()` rejects)
   * or a `warning` (they are run, and fail at that phase).
   */
  readonly badHandler?: 'error' | 'warning';
}

const POOL_KEYS = ['count', 'memoryMb', 'execArgv', 'env'] as const satisfies readonly (keyof PoolOptions)[];

/** Checks the options, and that every pool a phase names is there. */
export function requireThreads(threads: ThreadOptions | undefined, pipelines: readonly AnyPipeline[]): void {
  if (threads !== undefined) {
    const { pools, printLogs, badHandler, ...own } = threads;
    requireOptions(threads, 'config.threads', [...POOL_KEYS, 'pools', 'printLogs', 'badHandler']);
    requirePool(own, 'config.threads');
    requireBoolean(printLogs, 'config.threads.printLogs');
    requireOneOf(badHandler, 'config.threads.badHandler', ['error', 'warning']);
    if (pools !== undefined) requireOptions(pools, 'config.threads.pools', Object.keys(Object(pools)));
    for (const [name, pool] of Object.entries(pools ?? {})) {
      requireName(name, 'config.threads.pools');
      requirePool(pool, `config.threads.pools.${name}`);
    }
  }
  const known = [DEFAULT_POOL, ...Object.keys(threads?.pools ?? {})];
  for (const pipeline of pipelines) {
    for (const { name, work } of pipeline.phases) {
      if (work.kind === 'inline' || known.includes(work.pool)) continue;
      throw new InvalidInputError(
        'config.threads.pools',
        `has no "${work.pool}", which phase "${name}" of pipeline "${pipeline.name}" runs in; there are ${known.join(', ')}.`,
      );
    }
  }
}

function requirePool(pool: PoolOptions, field: string): void {
  requireOptions(pool, field, POOL_KEYS);
  requireCount(pool.count, `${field}.count`, 1);
  requireCount(pool.memoryMb, `${field}.memoryMb`, 8);
  const { execArgv, env } = pool;
  if (execArgv !== undefined && !(Array.isArray(execArgv) && execArgv.every((one) => typeof one === 'string'))) {
    throw new InvalidInputError(`${field}.execArgv`, 'must be a list of strings.');
  }
  if (env !== undefined && (typeof env !== 'object' || env === null || Array.isArray(env))) {
    throw new InvalidInputError(`${field}.env`, 'must be an object of strings.');
  }
}

/** The pools that are used, with their options complete. */
export function poolsInUse(threads: ThreadOptions | undefined, pipelines: readonly AnyPipeline[]) {
  const works = pipelines.flatMap(({ phases }) => phases.map(({ work }) => work));
  const onThreads = works.filter((work) => work.kind === 'thread');
  const names = new Set(onThreads.map(({ pool }) => pool));
  return new Map(
    [...names].map((name) => {
      const own = (name === DEFAULT_POOL ? threads : threads?.pools?.[name]) ?? {};
      const count = own.count ?? Math.max(1, availableParallelism() - 1);
      const mine = onThreads.filter(({ pool }) => pool === name);
      const phaseLimits = new Set(mine.map(({ memoryMb }) => memoryMb ?? undefined));
      return [name, { ...own, count, phaseLimits, execArgv: own.execArgv ?? inheritedExecArgv() }] as const;
    }),
  );
}
