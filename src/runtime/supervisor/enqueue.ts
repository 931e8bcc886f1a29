/** From what a caller gives to the birth of a job: every field is checked before anything is staged. */
import { type Birth, born, type Newborn } from '../../actors/job-actor.ts';
import { requireStorable } from '../../actors/json.ts';
import { InvalidInputError } from '../errors.ts';
import { newJobId } from '../job-id.ts';
import { END_OF_TIME, requireCount, requireOptions, requireTime, show } from '../options.ts';
import type { AnyPipeline } from '../pipeline.ts';
import { requireWebhookUrl } from '../webhook-url.ts';
import type { Charts } from './charts.ts';
import { validated } from './validation.ts';

/** Options of one job. */
export interface EnqueueOptions {
  /** Your own id; refused if it exists. Default: a new UUID. */
  readonly id?: string;
  /** Higher runs first. Default 0. */
  readonly priority?: number;
  /** Do not start before this time. */
  readonly scheduledAt?: Date | number;
  /** Do not start before this much time has passed. */
  readonly delayMs?: number;
  /** Cancel the job (reason `expired`) if it has not been started by then. */
  readonly expiresAt?: Date | number;
  /** Limit for one attempt of this job; overrides the pipeline's. */
  readonly timeoutMs?: number;
  /** Attempts in all; overrides the pipeline's. */
  readonly maxAttempts?: number;
  /** Where to send this job's webhooks, instead of the queue's address. */
  readonly webhookUrl?: string;
}

const KNOWN = [
  'id',
  'priority',
  'scheduledAt',
  'delayMs',
  'expiresAt',
  'timeoutMs',
  'maxAttempts',
  'webhookUrl',
] as const satisfies readonly (keyof EnqueueOptions)[];

const LONGEST_ID = 200;

export interface Nursery {
  readonly pipelines: ReadonlyMap<string, AnyPipeline>;
  readonly charts: Charts;
  readonly maxPayloadBytes: number;
  /** May webhooks go to addresses that are not public? */
  readonly allowPrivateNetwork: boolean;
}

/** One job as a caller gives it. */
export interface GivenJob {
  readonly name: string;
  readonly data: unknown;
  readonly options?: EnqueueOptions;
}

/** The ids callers chose themselves. */
export function chosenIds(jobs: readonly GivenJob[]): readonly string[] {
  return jobs.flatMap(({ options }) => options?.id ?? []);
}

/** Checks jobs that are to be born together, and makes their births. Asynchronous only because a schema may be. */
export async function prepareBirths(
  nursery: Nursery,
  jobs: readonly GivenJob[],
  now: number,
): Promise<readonly Newborn[]> {
  const births = await Promise.all(
    jobs.map(({ name, data, options = {} }) => prepareBirth(nursery, name, data, options, now)),
  );
  const seen = new Set<string>();
  for (const id of chosenIds(jobs)) {
    if (seen.has(id)) throw new InvalidInputError('options.id', `"${id}" is given twice in one call.`);
    seen.add(id);
  }
  return births;
}

async function prepareBirth(
  nursery: Nursery,
  name: string,
  data: unknown,
  options: EnqueueOptions,
  now: number,
): Promise<Newborn> {
  const pipeline = nursery.pipelines.get(name);
  const current = nursery.charts.current(name);
  if (!pipeline || !current) {
    const known = [...nursery.pipelines.keys()].join(', ') || 'none';
    throw new InvalidInputError('pipeline', `there is no pipeline ${show(name)} in this queue; it has: ${known}.`);
  }
  requireOptions(options, 'options', KNOWN);
  // A copy: callers may go on changing their object; the job keeps what it was given.
  const given = requireStorable(data === undefined ? null : data, 'data', nursery.maxPayloadBytes);
  const webhookUrl =
    options.webhookUrl === undefined
      ? null
      : requireWebhookUrl(options.webhookUrl, 'options.webhookUrl', nursery.allowPrivateNetwork);
  const birth = { webhookUrl, ...birthOf(pipeline, given, options, now, current.version) };
  if (pipeline.schema) await validated(pipeline, given);
  return born(current.chart, birth);
}

function birthOf(
  pipeline: AnyPipeline,
  data: unknown,
  options: EnqueueOptions,
  now: number,
  version: number,
): Omit<Birth, 'webhookUrl'> {
  requireCount(options.priority, 'options.priority', Number.MIN_SAFE_INTEGER);
  requireCount(options.delayMs, 'options.delayMs', 0);
  if ((options.delayMs ?? 0) > END_OF_TIME - now) {
    throw new InvalidInputError('options.delayMs', 'leads past the last time a Date can hold.');
  }
  requireCount(options.timeoutMs, 'options.timeoutMs', 1);
  requireCount(options.maxAttempts, 'options.maxAttempts', 1);
  if (options.scheduledAt !== undefined && options.delayMs !== undefined) {
    throw new InvalidInputError(
      'options.delayMs',
      'and options.scheduledAt say the same thing twice; give one of them.',
    );
  }
  const expiresAt = options.expiresAt === undefined ? null : requireTime(options.expiresAt, 'options.expiresAt');
  // A time in the past means now: it must not jump ahead of jobs that have been waiting longer.
  const wanted =
    options.scheduledAt === undefined
      ? now + (options.delayMs ?? 0)
      : requireTime(options.scheduledAt, 'options.scheduledAt');
  return {
    id: options.id === undefined ? newJobId(now) : requireId(options.id),
    pipeline: pipeline.name,
    data,
    priority: options.priority ?? 0,
    maxAttempts: options.maxAttempts ?? pipeline.retry.maxAttempts,
    scheduledAt: Math.max(wanted, now),
    expiresAt,
    timeoutMs: options.timeoutMs ?? pipeline.settings.timeoutMs ?? null,
    createdAt: now,
    machineVersion: version,
  };
}

function requireId(id: unknown): string {
  if (typeof id !== 'string' || id === '' || id.length > LONGEST_ID) {
    throw new InvalidInputError('options.id', `must be a string of 1 to ${LONGEST_ID} characters.`);
  }
  if (!id.isWellFormed()) {
    throw new InvalidInputError('options.id', 'holds half of a surrogate pair, which the database would replace.');
  }
  return id;
}
