/** Reading for people: pages of jobs, and the ids the background loops ask for. */
import type { Database, Statement } from 'better-sqlite3';
import type { JobFilter, JobPage } from '../port.ts';
import type { JobTable } from './jobs.ts';
import { ageOf, JOB_COLUMNS, type JobRow } from './rows.ts';

export class JobQueries {
  readonly #db: Database;
  readonly #jobs: JobTable;
  readonly #pages = new Map<string, Statement<unknown[], JobRow>>();
  readonly #expired: Statement<[number, number], string>;
  readonly #nextExpiry: Statement<[number], number>;
  readonly #finished: Statement<[number, number], string>;
  readonly #stale: Statement<[number, number], string>;

  constructor(db: Database, jobs: JobTable) {
    this.#db = db;
    this.#jobs = jobs;
    const EXPIRING = 'expires_at IS NOT NULL AND started_at IS NULL AND finished_at IS NULL';
    this.#expired = db
      .prepare<[number, number], string>(
        `SELECT id FROM millrace_jobs WHERE ${EXPIRING} AND expires_at <= ? ORDER BY expires_at LIMIT ?`,
      )
      .pluck();
    this.#nextExpiry = db
      .prepare<[number], number>(
        `SELECT expires_at FROM millrace_jobs WHERE ${EXPIRING} AND expires_at > ? ORDER BY expires_at LIMIT 1`,
      )
      .pluck()
      .safeIntegers(false);
    this.#finished = db
      .prepare<[number, number], string>(
        `SELECT id FROM millrace_jobs WHERE stale_at IS NULL AND finished_at < ?
         ORDER BY finished_at LIMIT ?`,
      )
      .pluck();
    this.#stale = db
      .prepare<[number, number], string>('SELECT id FROM millrace_jobs WHERE stale_at < ? ORDER BY stale_at LIMIT ?')
      .pluck();
  }

  /** Newest first. The cursor is the age of the page's last job, so pages stay steady while jobs come in. */
  list(filter: JobFilter, limit: number, cursor: string | null): JobPage {
    const where: string[] = [];
    const values: unknown[] = [];
    const add = (clause: string, value: unknown) => {
      where.push(clause);
      values.push(value);
    };
    const among = (column: string, value: string | readonly string[]) =>
      typeof value === 'string'
        ? add(`${column} = ?`, value)
        : add(`${column} IN (SELECT value FROM json_each(?))`, JSON.stringify(value));
    if (filter.status !== undefined) among('status', filter.status);
    if (filter.pipeline !== undefined) among('pipeline', filter.pipeline);
    if (filter.createdAfter !== undefined) add('created_at > ?', filter.createdAfter);
    if (filter.createdBefore !== undefined) add('created_at < ?', filter.createdBefore);
    if (cursor !== null) add('n < ?', Number(cursor));
    values.push(limit + 1);

    const rows = this.#page(where).all(...values);
    const last = rows.length > limit ? rows[limit - 1] : undefined;
    return { jobs: this.#jobs.records(rows.slice(0, limit)), cursor: last ? String(ageOf(last)) : null };
  }

  expired(now: number, limit: number): { ids: readonly string[]; nextAt: number | null } {
    return { ids: this.#expired.all(now, limit), nextAt: this.#nextExpiry.get(now) ?? null };
  }

  finishedBefore(time: number, limit: number): readonly string[] {
    return this.#finished.all(time, limit);
  }

  staleBefore(time: number, limit: number): readonly string[] {
    return this.#stale.all(time, limit);
  }

  /** One statement per combination of filters; there are few. */
  #page(where: readonly string[]): Statement<unknown[], JobRow> {
    const sql = `SELECT ${JOB_COLUMNS} FROM millrace_jobs ${where.length > 0 ? `WHERE ${where.join(' AND ')}` : ''} ORDER BY n DESC LIMIT ?`;
    let statement = this.#pages.get(sql);
    if (!statement) {
      statement = this.#db.prepare<unknown[], JobRow>(sql).raw().safeIntegers(false);
      this.#pages.set(sql, statement);
    }
    return statement;
  }
}
