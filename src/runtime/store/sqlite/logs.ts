/** The lines handlers wrote. */
import type { Database, Statement } from 'better-sqlite3';
import type { LogLine } from '../../../actors/vocabulary.ts';
import type { JobLogLine } from '../port.ts';

export class LogTable {
  readonly #append: Statement<[JobLogLine]>;
  readonly #ofJob: Statement<[string], LogLine>;
  readonly #delete: Statement<[string]>;

  constructor(db: Database) {
    // A line may come after its job was deleted: nobody would ever find it again.
    this.#append = db.prepare(
      `INSERT INTO millrace_logs (job_id, at, phase, attempt, level, text)
       SELECT $jobId, $at, $phase, $attempt, $level, $text WHERE EXISTS (SELECT 1 FROM millrace_jobs WHERE id = $jobId)`,
    );
    this.#ofJob = db
      .prepare<[string], LogLine>(
        'SELECT at, phase, attempt, level, text FROM millrace_logs WHERE job_id = ? ORDER BY n',
      )
      .safeIntegers(false);
    this.#delete = db.prepare('DELETE FROM millrace_logs WHERE job_id = ?');
  }

  append(lines: readonly JobLogLine[]): void {
    for (const line of lines) this.#append.run(line);
  }

  of(jobId: string): readonly LogLine[] {
    return this.#ofJob.all(jobId);
  }

  delete(jobId: string): void {
    this.#delete.run(jobId);
  }
}
