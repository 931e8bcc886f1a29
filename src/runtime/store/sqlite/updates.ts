/**
 * Writes what has changed of a job's row and nothing else: SQLite then leaves alone the indexes and checks that have nothing to do with
 * it, and what somebody else has written meanwhile (a renewed lease, a delivered webhook) stays.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { JobRecord } from '../../../actors/vocabulary.ts';
import { type Column, columnValue, STATE_COLUMNS } from './rows.ts';

interface Update {
  readonly columns: readonly Column[];
  readonly statement: Statement<unknown[]>;
}

export class JobUpdates {
  readonly #db: Database;
  /** One statement per set of columns, by a bit for each of them: dozens, in a queue with a varied life. */
  readonly #updates = new Map<number, Update>();

  constructor(db: Database) {
    this.#db = db;
  }

  /** Writes the job if its row is still the one it was judged from; answers whether it was. */
  run(job: JobRecord, before: JobRecord): boolean {
    const { columns, statement } = this.#update(job, before);
    const values: unknown[] = columns.map((column) => columnValue(column, job));
    values.push(before.id, before.seq, before.fence);
    return statement.run(values).changes > 0;
  }

  #update(job: JobRecord, before: JobRecord): Update {
    let bits = 0;
    for (let i = 0; i < STATE_COLUMNS.length; i++) if (isChanged(STATE_COLUMNS[i]!, job, before)) bits |= 1 << i;
    let update = this.#updates.get(bits);
    if (!update) {
      const columns = STATE_COLUMNS.filter((_, i) => bits & (1 << i));
      const set = columns.map(([name]) => `${name} = ?`).join(', ');
      const statement = this.#db.prepare(`UPDATE millrace_jobs SET ${set} WHERE id = ? AND seq = ? AND fence = ?`);
      update = { columns, statement };
      this.#updates.set(bits, update);
    }
    return update;
  }
}

/** By identity: whoever changes a list or an object makes a new one. The time of the change is always written, so that there is something to write. */
function isChanged([name, field]: Column, job: JobRecord, before: JobRecord): boolean {
  return job[field] !== before[field] || name === 'updated_at';
}
