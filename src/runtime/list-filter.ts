/** What `listJobs` is given, and its checks. */
import { JOB_STATUSES } from '../actors/vocabulary.ts';
import { InvalidInputError } from './errors.ts';
import { requireCount, requireOneOf, requireOptions, requireTime } from './options.ts';
import type { JobFilter } from './store/port.ts';

/** Filters and paging of `listJobs`. */
export interface ListOptions extends Pick<JobFilter, 'status' | 'pipeline'> {
  /** Only jobs born after this time. */
  readonly createdAfter?: Date | number;
  /** Only jobs born before this time. */
  readonly createdBefore?: Date | number;
  /** Jobs per page, 1 to 1,000. Default 100. */
  readonly limit?: number;
  /** Where the page before ended. */
  readonly cursor?: string | null;
}

const MOST = 1_000;

export function requireFilter(options: ListOptions): { filter: JobFilter; limit: number; cursor: string | null } {
  requireOptions(options, 'options', ['status', 'pipeline', 'createdAfter', 'createdBefore', 'limit', 'cursor']);
  const { limit = 100, cursor = null, createdAfter, createdBefore, ...filter } = options;
  requireCount(limit, 'options.limit', 1);
  if (limit > MOST) throw new InvalidInputError('options.limit', `is ${limit}, but a page holds at most ${MOST} jobs.`);
  if (cursor !== null && !/^\d{1,15}$/.test(cursor)) {
    throw new InvalidInputError('options.cursor', 'is not a cursor that listJobs gave out.');
  }
  for (const status of listOf(filter.status)) requireOneOf(status, 'options.status', JOB_STATUSES);
  for (const name of listOf(filter.pipeline)) {
    if (typeof name !== 'string') throw new InvalidInputError('options.pipeline', 'must be a name or a list of names.');
  }
  const times = {
    ...(createdAfter === undefined ? {} : { createdAfter: timeOf(createdAfter, 'options.createdAfter') }),
    ...(createdBefore === undefined ? {} : { createdBefore: timeOf(createdBefore, 'options.createdBefore') }),
  };
  return { filter: { ...filter, ...times }, limit, cursor };
}

function timeOf(value: Date | number, field: string): number {
  if (!(value instanceof Date)) requireCount(value, field, 0);
  return requireTime(value, field);
}

/** One or many; left out means none to check, `null` is a mistake to be found. */
function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
