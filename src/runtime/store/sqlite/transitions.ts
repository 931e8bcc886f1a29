/** The append-only log. */
import type { Database, Statement } from 'better-sqlite3';
import type { StagedTransition } from '../../../actors/job-actor.ts';
import type { TransitionRecord } from '../../../actors/vocabulary.ts';
import { type TransitionRow, toTransition } from './rows.ts';

export class TransitionTable {
  readonly #append: Statement<unknown[]>;
  readonly #ofJob: Statement<[string], TransitionRow>;
  readonly #after: Statement<[number, number], TransitionRow>;
  readonly #prune: Statement<[number, number]>;
  readonly #boundByAge: Statement<[number], number>;
  readonly #last: Statement<[], number>;
  readonly #range: Statement<[], { oldest: number | null; newest: number | null }>;

  constructor(db: Database) {
    this.#append = db
      .prepare(
        `INSERT INTO millrace_transitions (job_id, seq, pipeline, from_state, to_state, event, phase, attempt, error, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      )
      .safeIntegers(false);
    this.#ofJob = db
      .prepare<[string], TransitionRow>('SELECT * FROM millrace_transitions WHERE job_id = ? ORDER BY seq')
      .safeIntegers(false);
    this.#after = db
      .prepare<[number, number], TransitionRow>(
        'SELECT * FROM millrace_transitions WHERE position > ? ORDER BY position LIMIT ?',
      )
      .safeIntegers(false);
    this.#prune = db.prepare(
      `DELETE FROM millrace_transitions WHERE position IN
         (SELECT position FROM millrace_transitions WHERE position < ? ORDER BY position LIMIT ?)`,
    );
    // The log is in order of commit, and so nearly in order of time: the first young entry ends the old part.
    this.#boundByAge = db
      .prepare<[number], number>('SELECT position FROM millrace_transitions WHERE at >= ? ORDER BY position LIMIT 1')
      .pluck()
      .safeIntegers(false);
    this.#last = db.prepare<[], number>('SELECT max(position) FROM millrace_transitions').pluck().safeIntegers(false);
    // The newest is asked of AUTOINCREMENT's own table: the log may be pruned to the last entry.
    this.#range = db
      .prepare<[], { oldest: number | null; newest: number | null }>(
        `SELECT (SELECT min(position) FROM millrace_transitions) AS oldest,
                (SELECT seq FROM sqlite_sequence WHERE name = 'millrace_transitions') AS newest`,
      )
      .safeIntegers(false);
  }

  /** Writes one entry and stamps it with its position. */
  append(entry: StagedTransition): void {
    const { lastInsertRowid } = this.#append.run(
      entry.jobId,
      entry.seq,
      entry.pipeline,
      entry.from,
      entry.to,
      entry.event,
      entry.phase,
      entry.attempt,
      entry.error === null ? null : JSON.stringify(entry.error),
      entry.at,
    );
    entry.position = Number(lastInsertRowid);
  }

  ofJob(jobId: string): readonly TransitionRecord[] {
    return this.#ofJob.all(jobId).map(toTransition);
  }

  after(position: number, limit: number): readonly TransitionRecord[] {
    return this.#after.all(position, limit).map(toTransition);
  }

  range(): { oldest: number; newest: number } {
    const { oldest = null, newest } = this.#range.get() ?? {};
    return { oldest: oldest ?? (newest ?? 0) + 1, newest: newest ?? 0 };
  }

  /** Deletes at most `limit` entries from the old end, by age and by count. */
  prune(rule: { olderThan: number | null; keep: number | null }, limit: number): number {
    const last = this.#last.get() ?? 0;
    const byAge = rule.olderThan === null ? 0 : (this.#boundByAge.get(rule.olderThan) ?? last + 1);
    const byCount = rule.keep === null ? 0 : last - rule.keep + 1;
    const bound = Math.max(byAge, byCount);
    return bound <= 1 ? 0 : this.#prune.run(bound, limit).changes;
  }
}
