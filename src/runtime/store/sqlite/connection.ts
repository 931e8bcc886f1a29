/**
 * Opening a database file, or adopting one the application opened itself. Looks before it touches:
 * whatever is wrong is said before anything is created or changed.
 */
import { accessSync, closeSync, constants, existsSync, openSync, readSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import Database from 'better-sqlite3';
import { StoreUnavailableError } from '../../errors.ts';
import { translateFault } from './faults.ts';
import { readVersion } from './migrate.ts';

/** What a commit survives: the death of the process, or also a power cut (each commit is then synced to disk). */
export type Durability = 'process-crash' | 'power-loss';

/** An open database and what Millrace may do with it. */
export interface Connection {
  readonly db: Database.Database;
  /** For error messages. */
  readonly file: string;
  /** Opened by Millrace: it sets the pragmas and closes it. Otherwise both are the application's business. */
  readonly owned: boolean;
}

const SQLITE_HEADER = 'SQLite format 3\0';

/**
 * How long SQLite itself waits for a lock. Short, because better-sqlite3 blocks the event loop meanwhile;
 * longer waits are asynchronous (`SqliteStore`).
 */
const BLOCKING_WAIT_MS = 20;

/** SQLite's own page cache. The driver's 16 MB made nothing faster, and a backlog of millions filled them. */
const CACHE_KIB = 4_000;

/**
 * How many pages of the WAL (16 MiB) make a checkpoint, which syncs the file. SQLite's own 1,000 would sync four times as often and
 * write pages that are about to change again.
 */
const CHECKPOINT_PAGES = 4_000;

/** The WAL file is cut back to this size after a checkpoint. */
const JOURNAL_SIZE_LIMIT = 16 * 1024 * 1024;

/**
 * Opens a path or `:memory:`. While it is being opened, nothing else can go on anyway: locks are waited for with all patience, until
 * {@link waitBriefly}.
 */
export function openFile(path: string, durability: Durability, busyTimeoutMs: number): Connection {
  const file = path === ':memory:' ? path : resolve(path);
  if (file !== ':memory:') refuseUnusable(file);
  let db: Database.Database | undefined;
  try {
    db = open(file, busyTimeoutMs);
    // The first read shows a corrupt, foreign or newer file before any pragma writes to it.
    readVersion(db, file);
    db.pragma('journal_mode = WAL');
    db.pragma(`synchronous = ${durability === 'power-loss' ? 'FULL' : 'NORMAL'}`);
    db.pragma(`wal_autocheckpoint = ${CHECKPOINT_PAGES}`);
    db.pragma(`journal_size_limit = ${JOURNAL_SIZE_LIMIT}`);
    db.pragma(`cache_size = -${CACHE_KIB}`);
    return { db, file, owned: true };
  } catch (error) {
    db?.close();
    throw translateFault(error, file);
  }
}

/** From now on the event loop must not be held up. */
export function waitBriefly(db: Database.Database): void {
  db.pragma(`busy_timeout = ${BLOCKING_WAIT_MS}`);
}

/** Takes over a database the application opened; its pragmas stay as they are. */
export function adopt(db: Database.Database): Connection {
  const file = db.name || ':memory:';
  if (!db.open) {
    throw new StoreUnavailableError('store_unavailable', `Database "${file}" is closed; pass an open one.`);
  }
  if (db.readonly) {
    throw new StoreUnavailableError(
      'store_readonly',
      `Database "${file}" was opened read-only; open it without { readonly: true }.`,
    );
  }
  return { db, file, owned: false };
}

function open(file: string, timeout: number): Database.Database {
  try {
    return new Database(file, { timeout });
  } catch (error) {
    if (error instanceof Error && /bindings|\.node|NODE_MODULE_VERSION|dlopen/.test(error.message)) {
      throw new StoreUnavailableError(
        'store_unavailable',
        'The native part of better-sqlite3 is missing or built for another Node version. Run "npm rebuild better-sqlite3"; ' +
          'if your npm blocks install scripts, add "allowScripts": { "better-sqlite3": true } to your package.json and install again.',
        { cause: error },
      );
    }
    throw error;
  }
}

function refuseUnusable(file: string): void {
  const folder = dirname(file);
  if (!existsSync(folder)) {
    throw new StoreUnavailableError(
      'store_unavailable',
      `Database "${file}": the folder "${folder}" does not exist; create it first.`,
    );
  }
  if (!existsSync(file)) {
    refuseUnwritable(folder, file);
    return;
  }
  const stat = statSync(file);
  if (!stat.isFile()) {
    throw new StoreUnavailableError('store_unavailable', `Database "${file}" is not a file.`);
  }
  refuseUnwritable(file, file);
  // WAL mode puts two files beside the database.
  refuseUnwritable(folder, file);
  if (stat.size > 0 && readHeader(file) !== SQLITE_HEADER) {
    throw new StoreUnavailableError(
      'store_corrupt',
      `"${file}" is not an SQLite database; it was left untouched. Choose another path.`,
    );
  }
}

function refuseUnwritable(path: string, file: string): void {
  try {
    accessSync(path, constants.R_OK | constants.W_OK);
  } catch (error) {
    throw new StoreUnavailableError(
      'store_readonly',
      `Database "${file}": this process may not write to "${path}"; give it read and write access.`,
      { cause: error },
    );
  }
}

function readHeader(file: string): string {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(SQLITE_HEADER.length);
    const count = readSync(fd, bytes, 0, bytes.length, 0);
    return bytes.toString('latin1', 0, count);
  } finally {
    closeSync(fd);
  }
}
