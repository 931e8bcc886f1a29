/** Who holds which job, and who those holders are. */
import type { Database, Statement } from 'better-sqlite3';
import type { HeldJob, RuntimeIdentity } from '../port.ts';

interface HeldRow {
  readonly id: string;
  readonly fence: number;
  readonly lease_owner: string;
  readonly lease_expires_at: number;
}

interface RuntimeRow {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  readonly process_start: string | null;
}

export class LeaseTable {
  readonly #register: Statement<[string, string, number, string | null]>;
  readonly #unregister: Statement<[string]>;
  readonly #renew: Statement<[number, string]>;
  readonly #held: Statement<[string], string>;
  readonly #others: Statement<[string], HeldRow>;
  readonly #runtimes: Statement<[], RuntimeRow>;

  constructor(db: Database) {
    this.#register = db.prepare(
      'INSERT OR REPLACE INTO millrace_runtimes (id, host, pid, process_start) VALUES (?, ?, ?, ?)',
    );
    this.#unregister = db.prepare('DELETE FROM millrace_runtimes WHERE id = ?');
    this.#renew = db.prepare('UPDATE millrace_jobs SET lease_expires_at = ? WHERE lease_owner = ?');
    this.#held = db.prepare<[string], string>('SELECT id FROM millrace_jobs WHERE lease_owner = ?').pluck();
    this.#others = db
      .prepare<[string], HeldRow>(
        'SELECT id, fence, lease_owner, lease_expires_at FROM millrace_jobs WHERE lease_owner <> ?',
      )
      .safeIntegers(false);
    this.#runtimes = db.prepare<[], RuntimeRow>('SELECT * FROM millrace_runtimes').safeIntegers(false);
  }

  runtimes(): readonly RuntimeIdentity[] {
    return this.#runtimes.all().map((row) => ({
      id: row.id,
      host: row.host,
      pid: row.pid,
      processStart: row.process_start,
    }));
  }

  register({ id, host, pid, processStart }: RuntimeIdentity): void {
    this.#register.run(id, host, pid, processStart);
  }

  unregister(id: string): void {
    this.#unregister.run(id);
  }

  renew(id: string, leaseExpiresAt: number): readonly string[] {
    this.#renew.run(leaseExpiresAt, id);
    return this.heldBy(id);
  }

  heldBy(id: string): readonly string[] {
    return this.#held.all(id);
  }

  heldByOthers(id: string): readonly HeldJob[] {
    return this.#others.all(id).map((row) => ({
      id: row.id,
      fence: row.fence,
      leaseExpiresAt: row.lease_expires_at,
      owner: row.lease_owner,
    }));
  }
}
