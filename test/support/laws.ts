/** The laws that can be read off a database file, whatever has happened to it. */
import Database from 'better-sqlite3';
import { expect } from 'vitest';

interface Row {
  id: string;
  status: string;
  current_phase: string | null;
  seq: number;
}
interface Entry {
  job_id: string;
  seq: number;
  position: number;
  from_state: string | null;
  to_state: string;
}

/** Row and last log entry agree, each job's log is 0, 1, 2 … and each entry begins where the one before ended; counts are true. */
export function expectLawful(database: string): void {
  const db = new Database(database, { readonly: true });
  try {
    const rows = db.prepare('SELECT id, status, current_phase, seq FROM millrace_jobs').all() as Row[];
    const entries = db.prepare('SELECT * FROM millrace_transitions ORDER BY position').all() as Entry[];
    const logs = new Map<string, Entry[]>();
    for (const entry of entries) logs.set(entry.job_id, [...(logs.get(entry.job_id) ?? []), entry]);
    for (const log of logs.values()) {
      expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index));
      expect(log.slice(1).map(({ from_state }) => from_state)).toEqual(
        log.slice(0, -1).map(({ to_state }) => to_state),
      );
    }
    for (const row of rows) {
      const last = logs.get(row.id)?.at(-1);
      const state = row.status === 'active' ? `active.${row.current_phase}` : row.status;
      expect([last?.seq, last?.to_state]).toEqual([row.seq, state]);
    }
    const counted = db
      .prepare('SELECT pipeline, status, count(*) AS jobs FROM millrace_jobs GROUP BY pipeline, status ORDER BY 1, 2')
      .all();
    const kept = db.prepare('SELECT * FROM millrace_counts WHERE jobs > 0 ORDER BY pipeline, status').all();
    expect(kept).toEqual(counted);
  } finally {
    db.close();
  }
}
