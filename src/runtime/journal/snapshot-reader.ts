/** Reads the jobs there are in parts small enough to be sent, keeping none of them. */
import type { JobRecord } from '../../actors/vocabulary.ts';
import type { Store } from '../store/port.ts';
import type { SnapshotEvent } from './stream-events.ts';
import type { StreamFilter } from './stream-filter.ts';

/** A part of the snapshot. */
export interface SnapshotPart extends Pick<SnapshotEvent, 'position' | 'part' | 'done'> {
  /** The records as JSON, separated by commas. */
  readonly jobs: string;
}

/** Jobs per part at most, and characters above which a part of several jobs is read again as smaller ones. */
const MOST = { jobs: 16, characters: 32 * 1024 } as const;

export class SnapshotReader {
  readonly #store: Pick<Store, 'listJobs' | 'getJobs' | 'logRange'>;
  readonly #filter: StreamFilter;
  #size: number = MOST.jobs;
  #cursor: string | null = null;
  #part = 0;
  #position = 0;

  constructor(store: Pick<Store, 'listJobs' | 'getJobs' | 'logRange'>, filter: StreamFilter) {
    this.#store = store;
    this.#filter = filter;
  }

  /** The next part. Jobs of any size may follow each other, so the size of a part is found by trying. */
  async next(): Promise<SnapshotPart> {
    // Before the first job: what is committed meanwhile is told twice rather than not at all.
    if (this.#part === 0) this.#position = (await this.#store.logRange()).newest;
    for (;;) {
      const page = await this.#page();
      const texts = page.jobs.map((job) => JSON.stringify(job));
      const characters = texts.reduce((sum, text) => sum + text.length, 0);
      if (characters > MOST.characters && this.#size > 1) {
        this.#size = this.#size >> 1;
        continue;
      }
      if (characters < MOST.characters / 4) this.#size = Math.min(this.#size * 2, MOST.jobs);
      this.#cursor = page.cursor;
      const about = { position: this.#position, part: this.#part++, done: page.cursor === null };
      return { ...about, jobs: texts.join(',') };
    }
  }

  async #page(): Promise<{ readonly jobs: readonly JobRecord[]; readonly cursor: string | null }> {
    const { jobIds, listed } = this.#filter;
    if (!jobIds) return this.#store.listJobs(listed, this.#size, this.#cursor);
    const from = Number(this.#cursor ?? 0);
    const to = from + this.#size;
    const jobs = await this.#store.getJobs(jobIds.slice(from, to));
    return { jobs: jobs.filter((job) => this.#filter.shows(job)), cursor: to < jobIds.length ? String(to) : null };
  }
}
