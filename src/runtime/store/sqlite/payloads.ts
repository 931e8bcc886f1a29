/** Values kept apart from the job's row: phase results, and data too long to be rewritten with the row. */
import type { Database, Statement } from 'better-sqlite3';

interface PayloadRow {
  readonly job_id: string;
  readonly name: string;
  readonly body: string;
}

const NONE: ReadonlyMap<string, string> = new Map();

export class PayloadTable {
  readonly #put: Statement<[string, string, string]>;
  readonly #delete: Statement<[string]>;
  readonly #deleteOne: Statement<[string, string]>;
  readonly #get: Statement<[string], PayloadRow>;
  readonly #getMany: Statement<[string], PayloadRow>;

  constructor(db: Database) {
    this.#put = db.prepare(
      `INSERT INTO millrace_payloads (job_id, name, body) VALUES (?, ?, ?)
       ON CONFLICT (job_id, name) DO UPDATE SET body = excluded.body`,
    );
    this.#delete = db.prepare('DELETE FROM millrace_payloads WHERE job_id = ?');
    this.#deleteOne = db.prepare('DELETE FROM millrace_payloads WHERE job_id = ? AND name = ?');
    this.#get = db.prepare('SELECT * FROM millrace_payloads WHERE job_id = ?');
    this.#getMany = db.prepare('SELECT * FROM millrace_payloads WHERE job_id IN (SELECT value FROM json_each(?))');
  }

  put(jobId: string, name: string, body: string): void {
    this.#put.run(jobId, name, body);
  }

  delete(jobId: string): void {
    this.#delete.run(jobId);
  }

  deleteOne(jobId: string, name: string): void {
    this.#deleteOne.run(jobId, name);
  }

  of(jobId: string): ReadonlyMap<string, string> {
    const rows = this.#get.all(jobId);
    return rows.length === 0 ? NONE : new Map(rows.map((row) => [row.name, row.body]));
  }

  ofMany(jobIds: readonly string[]): (jobId: string) => ReadonlyMap<string, string> {
    if (jobIds.length === 0) return () => NONE;
    const byJob = new Map<string, Map<string, string>>();
    for (const row of this.#getMany.all(JSON.stringify(jobIds))) {
      const payloads = byJob.get(row.job_id) ?? new Map<string, string>();
      byJob.set(row.job_id, payloads.set(row.name, row.body));
    }
    return (jobId) => byJob.get(jobId) ?? NONE;
  }
}
