/** How many jobs there are, kept up to date by every commit: one write per pipeline and status it touched. */
import type { Database, Statement } from 'better-sqlite3';
import type { JobStatus } from '../../../actors/vocabulary.ts';
import type { JobCounts } from '../port.ts';

export class CountTable {
  readonly #add: Statement<[number, string, string]>;
  readonly #insert: Statement<[string, string, number]>;
  readonly #all: Statement<[], JobCounts[number]>;
  /** What the running transaction has changed so far: pipeline → status → difference. */
  readonly #pending = new Map<string, Map<string, number>>();

  constructor(db: Database) {
    this.#add = db.prepare('UPDATE millrace_counts SET jobs = jobs + ? WHERE pipeline = ? AND status = ?');
    this.#insert = db.prepare('INSERT INTO millrace_counts (pipeline, status, jobs) VALUES (?, ?, ?)');
    this.#all = db
      .prepare<[], JobCounts[number]>('SELECT pipeline, status, jobs FROM millrace_counts WHERE jobs > 0')
      .safeIntegers(false);
  }

  /** Notes that a job came (`from` null), went (`to` deleted) or moved. */
  move(pipeline: string, from: JobStatus | null, to: JobStatus): void {
    if (from === to) return;
    if (from !== null) this.#note(pipeline, from, -1);
    if (to !== 'deleted') this.#note(pipeline, to, 1);
  }

  /** Writes what was noted. Call it inside the transaction, last. */
  flush(): void {
    for (const [pipeline, statuses] of this.#pending) {
      for (const [status, difference] of statuses) {
        if (difference === 0) continue;
        const { changes } = this.#add.run(difference, pipeline, status);
        if (changes === 0) this.#insert.run(pipeline, status, difference);
      }
    }
    this.#pending.clear();
  }

  /** Forgets what was noted, after a rollback. */
  reset(): void {
    this.#pending.clear();
  }

  all(): JobCounts {
    return this.#all.all();
  }

  #note(pipeline: string, status: string, difference: number): void {
    let statuses = this.#pending.get(pipeline);
    if (!statuses) {
      statuses = new Map();
      this.#pending.set(pipeline, statuses);
    }
    statuses.set(status, (statuses.get(status) ?? 0) + difference);
  }
}
