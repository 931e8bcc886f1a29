/** SQLite's faults in Millrace's words. A fault that is nobody's business but ours passes through unchanged. */
import { type MillraceErrorCode, StoreUnavailableError } from '../../errors.ts';

const FAULTS: readonly [prefix: string, code: MillraceErrorCode, remedy: string][] = [
  ['SQLITE_BUSY', 'store_busy', 'Another connection holds the write lock; keep its transactions short.'],
  ['SQLITE_LOCKED', 'store_busy', 'Another statement on this connection holds a lock.'],
  ['SQLITE_FULL', 'store_full', 'Free some disk space; the queue goes on by itself.'],
  ['SQLITE_NOTADB', 'store_corrupt', 'The file is not an SQLite database; choose another path.'],
  ['SQLITE_CORRUPT', 'store_corrupt', 'Restore the file from a backup, or try the ".recover" command of sqlite3.'],
  ['SQLITE_READONLY', 'store_readonly', 'Give this process write access to the file and its folder.'],
  ['SQLITE_CANTOPEN', 'store_unavailable', 'Check that the folder exists and that this process may write there.'],
  ['SQLITE_IOERR', 'store_unavailable', 'The disk reported an error.'],
  ['SQLITE_NOMEM', 'store_unavailable', 'The process is out of memory.'],
];

/** The SQLite result code of an error, if it has one. */
export function sqliteCode(error: unknown): string | undefined {
  const code = error instanceof Error ? (error as { code?: unknown }).code : undefined;
  return typeof code === 'string' && code.startsWith('SQLITE_') ? code : undefined;
}

/** Is waiting a little likely to help? */
export function isBusy(error: unknown): boolean {
  const code = sqliteCode(error);
  return code !== undefined && (code.startsWith('SQLITE_BUSY') || code.startsWith('SQLITE_LOCKED'));
}

/** Turns a driver's error into a {@link StoreUnavailableError}; returns anything else as it is. */
export function translateFault(error: unknown, file: string): unknown {
  const code = sqliteCode(error);
  const fault = code && FAULTS.find(([prefix]) => code.startsWith(prefix));
  if (!fault) return error;
  const message = `Database "${file}": ${(error as Error).message}. ${fault[2]}`;
  return new StoreUnavailableError(fault[1], message, { cause: error });
}
