/** Which events a stream tells. Judged from a log entry alone, so that live and replayed events pass or fail alike. */
import { announcementsOf } from '../../actors/announcements.ts';
import {
  JOB_EVENT_NAMES,
  JOB_STATUSES,
  type JobEventName,
  type JobRecord,
  type JobStatus,
  type TransitionRecord,
} from '../../actors/vocabulary.ts';
import { InvalidInputError } from '../errors.ts';
import { requireOneOf, requireOptions, show } from '../options.ts';
import type { JobFilter } from '../store/port.ts';

/** What a stream tells; all given parts must match, left-out ones match everything. */
export interface EventFilter {
  /** Names of events. The snapshot does not mind them. */
  readonly events?: JobEventName | readonly JobEventName[];
  readonly pipelines?: string | readonly string[];
  readonly jobIds?: string | readonly string[];
  /** The status a job has come to. */
  readonly statuses?: JobStatus | readonly JobStatus[];
}

/** A filter that was checked. */
export class StreamFilter {
  /** The jobs to look for one by one, if the filter names them. */
  readonly jobIds: readonly string[] | null;
  /** The filter as the store understands it; it knows no ids. */
  readonly listed: JobFilter;
  readonly #events: ReadonlySet<string> | null;
  readonly #pipelines: ReadonlySet<string> | null;
  readonly #jobIds: ReadonlySet<string> | null;
  readonly #statuses: ReadonlySet<string> | null;

  /** @param field what error messages call the filter */
  constructor(filter: EventFilter, field: string) {
    requireOptions(filter, field, ['events', 'pipelines', 'jobIds', 'statuses']);
    this.#events = setOf(filter.events, `${field}.events`, JOB_EVENT_NAMES);
    this.#pipelines = setOf(filter.pipelines, `${field}.pipelines`);
    this.#jobIds = setOf(filter.jobIds, `${field}.jobIds`);
    this.#statuses = setOf(filter.statuses, `${field}.statuses`, JOB_STATUSES);
    this.jobIds = this.#jobIds && [...this.#jobIds];
    this.listed = {
      ...(this.#pipelines && { pipeline: [...this.#pipelines] }),
      ...(this.#statuses && { status: [...this.#statuses] as JobStatus[] }),
    };
  }

  /** The names under which the transition is told on this stream, each with its place among all of its names. */
  namesOf(transition: TransitionRecord): readonly { readonly name: JobEventName; readonly index: number }[] {
    const status = transition.to.split('.', 1)[0] ?? '';
    if (!this.#about(transition.jobId, transition.pipeline, status)) return [];
    return announcementsOf(transition)
      .map((name, index) => ({ name, index }))
      .filter(({ name }) => this.#events?.has(name) ?? true);
  }

  /** Is an event that is no log entry told? */
  tells(name: JobEventName, job: JobRecord): boolean {
    return (this.#events?.has(name) ?? true) && this.shows(job);
  }

  /** Does the snapshot show the job? */
  shows({ id, pipeline, status }: JobRecord): boolean {
    return this.#about(id, pipeline, status);
  }

  #about(jobId: string, pipeline: string, status: string): boolean {
    return (
      (this.#jobIds?.has(jobId) ?? true) &&
      (this.#pipelines?.has(pipeline) ?? true) &&
      (this.#statuses?.has(status) ?? true)
    );
  }
}

function setOf(value: unknown, field: string, words?: readonly string[]): ReadonlySet<string> | null {
  if (value === undefined) return null;
  const list: readonly unknown[] = Array.isArray(value) ? value : [value];
  for (const each of list) {
    if (typeof each !== 'string' || each === '') {
      throw new InvalidInputError(field, `has ${show(each)} in it, but takes a non-empty string or a list of them.`);
    }
    if (words) requireOneOf(each, field, words);
  }
  return new Set(list as readonly string[]);
}
