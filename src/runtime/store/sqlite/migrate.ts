/** Brings a database to the present schema: numbered steps forward, each once, all in one transaction. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailableError } from '../../errors.ts';
import * as jobs from './migrations/0001-jobs.ts';
import * as blobsAndLogs from './migrations/0002-blobs-and-logs.ts';
import * as deliveries from './migrations/0003-deliveries.ts';
import * as leanIndexes from './migrations/0004-lean-indexes.ts';

const MIGRATIONS: readonly string[] = [jobs.sql, blobsAndLogs.sql, deliveries.sql, leanIndexes.sql];

/** The schema version this program knows. */
export const SCHEMA_VERSION = MIGRATIONS.length;

/** Applies what is missing. A database from a newer Millrace is refused and left alone. */
export function migrate(db: Database, file: string): void {
  if (readVersion(db, file) === SCHEMA_VERSION) return;
  db.transaction(() => {
    db.exec(
      'CREATE TABLE IF NOT EXISTS millrace_migrations (version INTEGER PRIMARY KEY, applied_at INTEGER NOT NULL) STRICT',
    );
    // Read again under the write lock: another process may have been faster.
    const version = readVersion(db, file);
    const note = db.prepare('INSERT INTO millrace_migrations (version, applied_at) VALUES (?, unixepoch() * 1000)');
    for (const [index, sql] of MIGRATIONS.entries()) {
      if (index < version) continue;
      db.exec(sql);
      note.run(index + 1);
    }
  }).immediate();
}

/** The schema version of a database, 0 if it has none; throws if it is newer than this program. */
export function readVersion(db: Database, file: string): number {
  const table = db.prepare("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'millrace_migrations'").get();
  if (!table) return 0;
  const version = Number(db.prepare('SELECT max(version) FROM millrace_migrations').pluck().get() ?? 0);
  if (version > SCHEMA_VERSION) {
    throw new StoreUnavailableError(
      'store_newer',
      `Database "${file}" has schema version ${version}, but this Millrace knows only up to ${SCHEMA_VERSION}. Upgrade the millrace package.`,
    );
  }
  return version;
}
