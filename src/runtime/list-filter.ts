/** Checks what `listJobs` is given. */
import { JOB_STATUSES } from '../actors/vocabulary.ts';
import { InvalidInputError } from './errors.ts';
import type { ListOptions } from './job-queue.ts';
import { requireCount, requireOneOf, requireOptions } from './options.ts';
import type { JobFilter } from './store/port.ts';

const MOST = 1_000;

export function requireFilter(options: ListOptions): { filter: JobFilter; limit: number; cursor: string | null } {
  requireOptions(options, 'options', ['status', 'pipeline', 'createdAfter', 'createdBefore', 'limit', 'cursor']);
  const { limit = 100, cursor = null, ...filter } = options;
  requireCount(limit, 'options.limit', 1);
  if (limit > MOST) throw new InvalidInputError('options.limit', `is ${limit}, but a page holds at most ${MOST} jobs.`);
  if (cursor !== null && !/^\d{1,15}$/.test(cursor)) {
    throw new InvalidInputError('options.cursor', 'is not a cursor that listJobs gave out.');
  }
  for (const status of listOf(filter.status)) requireOneOf(status, 'options.status', JOB_STATUSES);
  for (const name of listOf(filter.pipeline)) {
    if (typeof name !== 'string') throw new InvalidInputError('options.pipeline', 'must be a name or a list of names.');
  }
  requireCount(filter.createdAfter, 'options.createdAfter', 0);
  requireCount(filter.createdBefore, 'options.createdBefore', 0);
  return { filter, limit, cursor };
}

/** One or many; left out means none to check, `null` is a mistake to be found. */
function listOf(value: unknown): readonly unknown[] {
  if (value === undefined) return [];
  return Array.isArray(value) ? value : [value];
}
