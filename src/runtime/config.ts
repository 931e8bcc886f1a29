/** What a queue can be told, with defaults; everything is checked before anything is opened. */
import type { Database } from 'better-sqlite3';
import type { RetentionOptions } from './background/pruner.ts';
import { type Clock, systemClock } from './clock.ts';
import { InvalidInputError } from './errors.ts';
import { type InspectOption, requireInspect } from './journal/inspect-feed.ts';
import {
  requireBoolean,
  requireCount,
  requireFunction,
  requireOneOf,
  requireOptions,
  requireTimer,
  requireWait,
} from './options.ts';
import { type AnyPipeline, Pipeline } from './pipeline.ts';
import type { PhasesChangedPolicy } from './store/port.ts';
import type { Durability } from './store/sqlite/connection.ts';
import type { TurnPoint } from './supervisor/supervisor.ts';
import { requireThreads, type ThreadOptions } from './thread-options.ts';
import { parseWebhooks, type WebhookOptions, type WebhookSettings } from './webhook-options.ts';

/** What becomes of jobs that are still running when shutdown runs out of patience. */
export type OnShutdown = 'release' | 'pause' | 'cancel';

/** Options of `new JobQueue(…)`. */
export interface JobQueueConfig<Pipelines extends readonly AnyPipeline[] = readonly AnyPipeline[]> {
  /** A path, `':memory:'`, or an open better-sqlite3 `Database`, so that jobs share a file with the application's tables. */
  readonly database: string | Database;
  /** The pipelines whose jobs this queue takes and runs. */
  readonly pipelines: Pipelines;
  /** How many inline phases run at a time. Default 16. */
  readonly concurrency?: number;
  /** `false`: this queue enqueues and watches, but runs nothing. Default `true`. */
  readonly claim?: boolean;
  /** What a commit survives: `process-crash` (default) or also `power-loss`, at the price of a disk sync per commit. */
  readonly durability?: Durability;
  /** What to do with unfinished jobs that cannot go on because their pipeline's phases have changed. Default `refuse`. */
  readonly onPhasesChanged?: PhasesChangedPolicy;
  /** How long a job stays with a runtime that gives no sign of life. Default 30,000; renewed every third of it. */
  readonly leaseMs?: number;
  /** Longest wait, without blocking the event loop, for another connection's write lock. Default 5,000. */
  readonly busyTimeoutMs?: number;
  /** Largest data, result or progress message, in bytes of JSON. Default 1 MiB. */
  readonly maxPayloadBytes?: number;
  /** Largest sum of a result's binary values, in bytes. Default 256 MiB. */
  readonly maxBlobBytes?: number;
  /** The threads that phases with a `worker` run on. */
  readonly threads?: ThreadOptions;
  /** What to forget, and when. Default: nothing. */
  readonly retention?: RetentionOptions;
  /** Where to POST news of jobs, and how. Default: only jobs with a `webhookUrl` of their own have webhooks, unsigned. */
  readonly webhooks?: WebhookOptions;
  /** What becomes of jobs that shutdown had to stop. Default `release`: another run takes them up, no attempt is lost. */
  readonly onShutdown?: OnShutdown;
  /** An XState inspector, shown committed transitions: see `docs/inspector.md`. Default: none, at no cost. */
  readonly inspect?: InspectOption;
  /** For tests: time in your own hands. */
  readonly clock?: Clock;
  /** For tests: called at named moments of every turn. */
  readonly onPoint?: (point: TurnPoint) => void;
}

type Optional = 'retention' | 'threads' | 'inspect' | 'onPoint';

/** The configuration with every default filled in. */
export type Settings = Required<Omit<JobQueueConfig, Optional | 'webhooks'>> &
  Pick<JobQueueConfig, Optional> & { readonly webhooks: WebhookSettings };

const KNOWN = [
  'database',
  'pipelines',
  'concurrency',
  'claim',
  'durability',
  'onPhasesChanged',
  'leaseMs',
  'busyTimeoutMs',
  'maxPayloadBytes',
  'maxBlobBytes',
  'threads',
  'retention',
  'webhooks',
  'onShutdown',
  'inspect',
  'clock',
  'onPoint',
] as const satisfies readonly (keyof JobQueueConfig)[];

/** Checks a configuration and fills in the defaults. */
export function parseConfig(config: JobQueueConfig): Settings {
  requireOptions(config, 'config', KNOWN);
  requireDatabase(config.database);
  requirePipelines(config.pipelines);
  requireCount(config.concurrency, 'config.concurrency', 1);
  requireWait(config.leaseMs, 'config.leaseMs', 100);
  requireTimer(config.busyTimeoutMs, 'config.busyTimeoutMs', 0);
  requireCount(config.maxPayloadBytes, 'config.maxPayloadBytes', 1);
  requireCount(config.maxBlobBytes, 'config.maxBlobBytes', 0);
  requireThreads(config.threads, config.pipelines);
  requireOneOf(config.durability, 'config.durability', ['process-crash', 'power-loss']);
  requireOneOf(config.onPhasesChanged, 'config.onPhasesChanged', ['refuse', 'migrate', 'fail']);
  requireOneOf(config.onShutdown, 'config.onShutdown', ['release', 'pause', 'cancel']);
  requireBoolean(config.claim, 'config.claim');
  if (config.retention !== undefined) requireRetention(config.retention);
  requireInspect(config.inspect, 'config.inspect');
  requireClock(config.clock);
  requireFunction(config.onPoint, 'config.onPoint');
  return {
    concurrency: 16,
    claim: true,
    durability: 'process-crash',
    onPhasesChanged: 'refuse',
    leaseMs: 30_000,
    busyTimeoutMs: 5_000,
    maxPayloadBytes: 1024 * 1024,
    maxBlobBytes: 256 * 1024 * 1024,
    onShutdown: 'release',
    clock: systemClock,
    ...withoutUndefined(config),
    webhooks: parseWebhooks(config.webhooks, config.claim ?? true),
  };
}

/** `{ concurrency: undefined }` means the default, like a key left out. */
function withoutUndefined<T extends object>(config: T): T {
  return Object.fromEntries(Object.entries(config).filter(([, value]) => value !== undefined)) as T;
}

function requireClock(clock: unknown): void {
  if (clock === undefined) return;
  const { now, at } = Object(clock) as Partial<Clock>;
  if (typeof now !== 'function' || typeof at !== 'function') {
    throw new InvalidInputError('config.clock', 'must have the methods now() and at(time, callback).');
  }
}

function requireDatabase(database: unknown): void {
  const isPath = typeof database === 'string' && database !== '';
  const isOpen =
    typeof database === 'object' && database !== null && 'prepare' in database && 'transaction' in database;
  if (!isPath && !isOpen) {
    throw new InvalidInputError('config.database', "must be a path, ':memory:' or an open better-sqlite3 Database.");
  }
}

function requirePipelines(pipelines: unknown): void {
  if (!Array.isArray(pipelines)) throw new InvalidInputError('config.pipelines', 'must be a list of pipelines.');
  const names = new Set<string>();
  for (const pipeline of pipelines) {
    if (!(pipeline instanceof Pipeline)) {
      throw new InvalidInputError('config.pipelines', 'holds something that was not made by pipeline(name).');
    }
    if (pipeline.phases.length === 0) {
      throw new InvalidInputError(
        'config.pipelines',
        `"${pipeline.name}" has no phases; add one with .phase(name, handler).`,
      );
    }
    if (names.has(pipeline.name)) {
      throw new InvalidInputError('config.pipelines', `"${pipeline.name}" is given twice; pipeline names must differ.`);
    }
    names.add(pipeline.name);
  }
}

function requireRetention(retention: RetentionOptions): void {
  const field = 'config.retention';
  requireOptions(retention, field, [
    'staleAfterMs',
    'deleteAfterMs',
    'logMaxAgeMs',
    'logMaxCount',
    'intervalMs',
    'batchSize',
    'onStale',
    'onDelete',
  ]);
  for (const key of ['staleAfterMs', 'deleteAfterMs', 'logMaxAgeMs'] as const) {
    requireWait(retention[key], `${field}.${key}`, 0);
  }
  requireCount(retention.logMaxCount, `${field}.logMaxCount`, 0);
  requireWait(retention.intervalMs, `${field}.intervalMs`, 1);
  requireCount(retention.batchSize, `${field}.batchSize`, 1);
  requireFunction(retention.onStale, `${field}.onStale`);
  requireFunction(retention.onDelete, `${field}.onDelete`);
}
