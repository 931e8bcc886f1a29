/** Opening a database: what is wrong is said clearly, and nothing is touched. */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { describe, expect, onTestFinished, test } from 'vitest';
import { StoreUnavailableError } from '../../../src/runtime/errors.ts';
import { SqliteStore, type SqliteStoreOptions } from '../../../src/runtime/store/sqlite/sqlite-store.ts';
import { Harness, on, PHASES, T0 } from '../../conformance/harness.ts';
import { tempDatabase, tempFolder } from '../../support/temp-database.ts';

/** Every file below a folder with a digest of its bytes. */
function picture(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => {
    const path = join(folder, name);
    return [
      name,
      statSync(path).isFile() ? createHash('sha256').update(readFileSync(path)).digest('hex') : 'folder',
    ] as const;
  });
  return Object.fromEntries(files.sort());
}

function open(database: SqliteStoreOptions['database'], options: Partial<SqliteStoreOptions> = {}): SqliteStore {
  return new SqliteStore({ database, phaseLists: PHASES, ...options });
}

/** Why the store does not open. */
function refusal(database: SqliteStoreOptions['database']): StoreUnavailableError {
  try {
    void open(database).close();
  } catch (error) {
    expect(error).toBeInstanceOf(StoreUnavailableError);
    return error as StoreUnavailableError;
  }
  throw new Error('The store opened.');
}

/** The same, seen from a process that is not root's. */
function refusalToNobody(path: string): { name?: string; code?: string; message?: string } {
  const asNobody = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const script = fileURLToPath(new URL('./open-alone.ts', import.meta.url));
  const { stdout, stderr } = spawnSync(process.execPath, ['--import', 'tsx', script, path], {
    ...asNobody,
    encoding: 'utf8',
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
  });
  if (!stdout) throw new Error(stderr);
  return JSON.parse(stdout);
}

function noise(length: number): Buffer {
  return Buffer.from(Array.from({ length }, (_, i) => (i * 7_919 + (i >> 3)) % 251));
}

/** A database with jobs in it, closed in good order. */
async function filledDatabase(): Promise<string> {
  const path = tempDatabase();
  const harness = new Harness((phaseLists) => new SqliteStore({ database: path, phaseLists }));
  for (let i = 0; i < 50; i++) await harness.born({ data: 'x'.repeat(500) });
  await harness.store.close();
  return path;
}

/** A database whose schema is newer than this program. */
async function newerDatabase(journal: 'wal' | 'delete'): Promise<string> {
  const path = await filledDatabase();
  const db = new Database(path);
  db.prepare('INSERT INTO millrace_migrations (version, applied_at) VALUES (99, 0)').run();
  db.pragma(`journal_mode = ${journal}`);
  db.close();
  return path;
}

/** What indexes of jobs a database has, as SQL. */
function indexesOf(path: string): unknown[] {
  const db = new Database(path, { readonly: true });
  const indexes = db
    .prepare("SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'millrace_jobs'")
    .pluck();
  const found = indexes.all().sort();
  db.close();
  return found;
}

function newFile(bytes: string | Buffer): string {
  const path = tempDatabase();
  writeFileSync(path, bytes);
  return path;
}

const unusable: readonly [what: string, code: string, says: RegExp, make: () => string | Promise<string>][] = [
  ['a text file', 'store_corrupt', /not an SQLite database/, () => newFile('{"jobs": []}\n'.repeat(500))],
  ['a file shorter than a header', 'store_corrupt', /not an SQLite database/, () => newFile('SQLite')],
  [
    'a file with a valid header and garbage after it',
    'store_corrupt',
    /backup|not an SQLite database|not a database/,
    () => newFile(Buffer.concat([Buffer.from('SQLite format 3\0'), noise(8_000)])),
  ],
  [
    'a database whose pages after the first are garbage',
    'store_corrupt',
    /backup/,
    async () => {
      const path = await filledDatabase();
      const bytes = readFileSync(path);
      writeFileSync(path, Buffer.concat([bytes.subarray(0, 4_096), noise(bytes.length - 4_096)]));
      return path;
    },
  ],
  [
    'a database that was cut off',
    'store_corrupt',
    /backup/,
    async () => {
      const path = await filledDatabase();
      truncateSync(path, 4_096);
      return path;
    },
  ],
  [
    'a path in a missing folder',
    'store_unavailable',
    /folder .* does not exist/,
    () => join(tempFolder(), 'missing/jobs.db'),
  ],
  [
    'a folder',
    'store_unavailable',
    /is not a file/,
    () => {
      const path = tempDatabase();
      mkdirSync(path);
      return path;
    },
  ],
  ['a database of a newer Millrace', 'store_newer', /version 99.*Upgrade/, () => newerDatabase('wal')],
  [
    'a database of a newer Millrace that is not in WAL mode, like a restored backup',
    'store_newer',
    /version 99.*Upgrade/,
    () => newerDatabase('delete'),
  ],
];

describe('a path that cannot be used', () => {
  for (const [what, code, says, make] of unusable) {
    test(`${what} is refused with ${code} and left as it is`, async () => {
      const path = await make();
      const folder = dirname(path.endsWith('/missing/jobs.db') ? dirname(path) : path);
      const before = picture(folder);
      const error = refusal(path);
      expect(error.code).toBe(code);
      expect(error.message).toMatch(says);
      expect(error.message).toContain(path);
      expect(picture(folder)).toEqual(before);
    });
  }

  test('a read-only file is refused with store_readonly and left as it is', async () => {
    const path = await filledDatabase();
    chmodSync(dirname(path), 0o777);
    chmodSync(path, 0o444);
    const before = picture(dirname(path));
    const { name, code, message } = refusalToNobody(path);
    expect({ name, code }).toEqual({ name: 'StoreUnavailableError', code: 'store_readonly' });
    expect(message).toContain(path);
    expect(picture(dirname(path))).toEqual(before);
  });

  test('a writable file in a read-only folder is refused with store_readonly and left as it is', async () => {
    const path = await filledDatabase();
    chmodSync(path, 0o666);
    chmodSync(dirname(path), 0o555);
    const before = picture(dirname(path));
    expect(refusalToNobody(path)).toMatchObject({ code: 'store_readonly' });
    expect(picture(dirname(path))).toEqual(before);
  });

  test('a new file in a read-only folder is refused with store_readonly and not created', () => {
    const path = tempDatabase();
    chmodSync(dirname(path), 0o555);
    expect(refusalToNobody(path)).toMatchObject({ code: 'store_readonly' });
    expect(picture(dirname(path))).toEqual({});
  });

  test('a file that another connection is writing to is refused with store_busy and left as it is', async () => {
    const path = await filledDatabase();
    const other = new Database(path);
    onTestFinished(() => void other.close());
    other.exec('BEGIN IMMEDIATE');
    const before = readFileSync(path);
    expect(refusal(path).code).toBe('store_busy');
    expect(readFileSync(path)).toEqual(before);
  });

  test('a store that could not be opened holds no lock on the file', async () => {
    const path = await newerDatabase('wal');
    refusal(path);
    const db = new Database(path, { timeout: 0 });
    onTestFinished(() => void db.close());
    db.pragma('locking_mode = EXCLUSIVE');
    db.prepare('DELETE FROM millrace_migrations WHERE version = 99').run();
  });
});

describe('a path that can be used', () => {
  test('a new file is created and found again', async () => {
    const path = tempDatabase();
    await open(path).close();
    const store = open(path);
    expect(await store.counts()).toEqual([]);
    await store.close();
  });

  test('an empty file is a new database', async () => {
    const store = open(newFile(''));
    expect(await store.counts()).toEqual([]);
    await store.close();
  });

  test('a file of an earlier schema gets the indexes of the present one, and keeps its jobs', async () => {
    const path = await filledDatabase();
    const present = indexesOf(path);
    const db = new Database(path);
    db.exec(`
      DROP INDEX millrace_jobs_held;
      CREATE INDEX millrace_jobs_held ON millrace_jobs (lease_owner) WHERE status = 'active';
      DROP INDEX millrace_jobs_stale;
      DELETE FROM millrace_migrations WHERE version > 3;
    `);
    db.close();
    expect(indexesOf(path)).not.toEqual(present);
    const store = open(path);
    expect(await store.counts()).toMatchObject([{ status: 'pending', jobs: 50 }]);
    await store.close();
    expect(indexesOf(path)).toEqual(present);
  });

  test("a file with the application's own tables keeps them", async () => {
    const path = tempDatabase();
    const app = new Database(path);
    app.exec("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('ada')");
    app.close();
    await open(path).close();
    const again = new Database(path);
    onTestFinished(() => void again.close());
    expect(again.prepare('SELECT name FROM users').pluck().all()).toEqual(['ada']);
  });
});

describe('a Database that is passed in', () => {
  function opened(path = tempDatabase(), options: Database.Options = {}): Database.Database {
    const db = new Database(path, options);
    onTestFinished(() => void db.close());
    return db;
  }

  test('opened read-only it is refused with store_readonly and stays open', async () => {
    const path = await filledDatabase();
    const db = opened(path, { readonly: true });
    const before = readFileSync(path);
    expect(refusal(db).code).toBe('store_readonly');
    expect(db.open).toBe(true);
    expect(readFileSync(path)).toEqual(before);
  });

  test('closed it is refused with store_unavailable', () => {
    const db = opened();
    db.close();
    const error = refusal(db);
    expect(error.code).toBe('store_unavailable');
    expect(error.message).toMatch(/closed/);
  });

  test('of a newer Millrace it is refused with store_newer, stays open and as it is', async () => {
    const path = await newerDatabase('delete');
    const db = opened(path);
    const before = readFileSync(path);
    expect(refusal(db).code).toBe('store_newer');
    expect(db.open).toBe(true);
    expect(readFileSync(path)).toEqual(before);
  });

  test('it keeps its pragmas and tables, and stays open after close()', async () => {
    const db = opened();
    db.pragma('journal_mode = TRUNCATE');
    db.pragma('synchronous = EXTRA');
    db.pragma('foreign_keys = OFF');
    db.pragma('busy_timeout = 1234');
    db.exec("CREATE TABLE users (name TEXT); INSERT INTO users VALUES ('ada')");
    const harness = new Harness(
      (phaseLists) => new SqliteStore({ database: db, phaseLists, durability: 'power-loss' }),
    );
    await harness.born({}, on.claimed(), on.phaseCompleted(T0 + 1, 1));
    await harness.store.tidy();
    await harness.store.close();
    expect(db.open).toBe(true);
    const pragmas = ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout'];
    expect(pragmas.map((name) => db.pragma(name, { simple: true }))).toEqual(['truncate', 3, 0, 1_234]);
    expect(db.prepare('SELECT name FROM users').pluck().all()).toEqual(['ada']);
  });

  test('it keeps foreign keys that are on', () => {
    const db = opened();
    db.pragma('foreign_keys = ON');
    open(db);
    expect(db.pragma('foreign_keys', { simple: true })).toBe(1);
  });

  test('it may give integers as BigInt: records, log and counts hold numbers all the same', async () => {
    const db = opened();
    db.defaultSafeIntegers(true);
    const harness = new Harness((phaseLists) => new SqliteStore({ database: db, phaseLists }));
    const { store } = harness;
    // `send` compares what is stored with what was judged.
    await harness.born({ expiresAt: T0 + 5 });
    await harness.born({}, on.claimed(), on.phaseCompleted(T0 + 1, 1), on.phaseFailed(T0 + 2, T0 + 3));
    await harness.born({}, on.cancel(T0), on.markStale(T0), on.delete(T0));
    const claimed = await harness.claim([{ pipeline: 'thumbs', phaseIndex: 1, limit: 1 }], { now: T0 + 9 });
    expect(claimed.ids).toHaveLength(1);
    await store.register({ id: 'runtime-1', host: 'mill', pid: 1, processStart: null });
    const page = await store.listJobs({}, 1, null);
    const answers = [
      await harness.everything(),
      page,
      await store.listJobs({}, 1, page.cursor),
      await store.renewLeases('runtime-1', T0 + 99),
      await store.heldByOthers('runtime-2'),
      await store.runtimes(),
      await store.expired(T0, 9),
      await store.pruneLog({ olderThan: T0, keep: 2 }, 9),
      [...store.machineVersions],
    ];
    // JSON refuses a BigInt.
    expect(() => JSON.stringify(answers)).not.toThrow();
    await harness.reopen([{ pipeline: 'thumbs', phases: ['download', 'resize'] }]);
    expect([...harness.store.machineVersions.values()].every(Number.isInteger)).toBe(true);
  });
});

describe('impossible rows', () => {
  const impossible: readonly [what: string, status: 'pending' | 'active' | 'cancelled', set: string][] = [
    ['an unknown status', 'pending', "status = 'sleeping'"],
    ['a deleted job that is still there', 'pending', "status = 'deleted'"],
    ['an active job without a lease', 'active', 'lease_owner = NULL, lease_expires_at = NULL'],
    ['a lease without an end', 'active', 'lease_expires_at = NULL'],
    ['a lease on a job that is not active', 'pending', "lease_owner = 'me', lease_expires_at = 1"],
    ['an active job without a phase', 'active', 'current_phase = NULL'],
    ['an active job without an attempt', 'active', 'attempt = 0'],
    ['an active job that was never started', 'active', 'started_at = NULL'],
    ['an end without a final status', 'pending', 'finished_at = 1'],
    ['a final status without an end', 'cancelled', 'finished_at = NULL'],
    ['a stale time without being stale', 'cancelled', 'stale_at = 1'],
    ['being stale without a time', 'cancelled', "status = 'stale'"],
    ['progress over 100', 'pending', 'progress = 101'],
    ['a negative phase', 'pending', 'phase_index = -1'],
    ['no attempts at all', 'pending', 'max_attempts = 0'],
    ['a fence without a start', 'pending', 'fence = 1'],
  ];
  const events = { pending: [], active: [on.claimed()], cancelled: [on.cancel(T0)] };

  for (const [what, status, set] of impossible) {
    test(`the schema refuses ${what}`, async () => {
      const db = new Database(':memory:');
      onTestFinished(() => void db.close());
      const harness = new Harness((phaseLists) => new SqliteStore({ database: db, phaseLists }));
      const { id } = await harness.born({}, ...events[status]);
      expect(() => db.prepare(`UPDATE millrace_jobs SET ${set} WHERE id = ?`).run(id)).toThrow(
        expect.objectContaining({ code: 'SQLITE_CONSTRAINT_CHECK' }),
      );
    });
  }
});

describe('a lock held by somebody else', () => {
  /** A store, another connection to its file, and a way to see whether a promise is still waiting. */
  function neighbours(busyTimeoutMs: number) {
    const path = tempDatabase();
    const harness = new Harness((phaseLists) => new SqliteStore({ database: path, phaseLists, busyTimeoutMs }));
    const other = new Database(path);
    onTestFinished(() => {
      other.close();
      return harness.store.close();
    });
    return { harness, other };
  }

  async function isWaiting(promise: Promise<unknown>, ms: number): Promise<boolean> {
    const waiting = Symbol('waiting');
    const timer = new Promise((resolve) => setTimeout(resolve, ms, waiting));
    return (await Promise.race([promise, timer])) === waiting;
  }

  test('a commit waits for it, without blocking the event loop, and succeeds when it is released', async () => {
    const { harness, other } = neighbours(10_000);
    other.exec('BEGIN IMMEDIATE');
    let ticks = 0;
    const ticking = setInterval(() => ticks++, 5);
    const commit = harness.commit({ births: [harness.birthGroup([{ id: 'patient' }])] });
    expect(await isWaiting(commit, 200)).toBe(true);
    clearInterval(ticking);
    expect(ticks).toBeGreaterThan(2);
    other.exec('COMMIT');
    await commit;
    expect(await harness.job('patient')).toMatchObject({ status: 'pending' });
  });

  test('past busyTimeoutMs a commit rejects with store_busy, and nothing has changed', async () => {
    const { harness, other } = neighbours(60);
    const held = await harness.born({}, on.claimed());
    const before = await harness.everything();
    other.exec('BEGIN IMMEDIATE');
    const commit = harness.commit({
      births: [harness.birthGroup([{ id: 'unborn' }])],
      changes: [harness.judge(held, on.cancel(T0 + 1))],
    });
    await expect(commit).rejects.toMatchObject({ name: 'StoreUnavailableError', code: 'store_busy' });
    await expect(commit).rejects.toBeInstanceOf(StoreUnavailableError);
    other.exec('ROLLBACK');
    expect(await harness.everything()).toEqual(before);
    // The next commit writes its own changes only.
    await harness.born({ id: 'next' });
    const { jobs } = await harness.store.listJobs({}, 9, null);
    expect(jobs.map(({ id }) => id)).toEqual(['next', held.id]);
    expect(await harness.store.counts()).toHaveLength(2);
  });

  test('judges are not asked before the lock is ours', async () => {
    const { harness, other } = neighbours(10_000);
    const { id } = await harness.born();
    other.exec('BEGIN IMMEDIATE');
    let asked = 0;
    const commit = harness.commit({
      load: [id],
      judge(job) {
        asked++;
        return harness.judge(job, on.cancel(T0 + 1));
      },
    });
    expect(await isWaiting(commit, 100)).toBe(true);
    expect(asked).toBe(0);
    other.exec('COMMIT');
    await commit;
    expect(asked).toBe(1);
  });

  test('reading goes on meanwhile', async () => {
    const { harness, other } = neighbours(60);
    const job = await harness.born();
    other.exec('BEGIN IMMEDIATE');
    expect(await harness.store.getJob(job.id)).toEqual(job);
    other.exec('COMMIT');
  });

  test("the application's open transaction on a shared connection is waited for, and its rollback takes no job", async () => {
    const db = new Database(tempDatabase());
    onTestFinished(() => void db.close());
    db.exec('CREATE TABLE users (name TEXT)');
    const harness = new Harness((phaseLists) => new SqliteStore({ database: db, phaseLists, busyTimeoutMs: 10_000 }));
    db.exec("BEGIN; INSERT INTO users VALUES ('ada')");
    const commit = harness.commit({ births: [harness.birthGroup([{ id: 'patient' }])] });
    expect(await isWaiting(commit, 100)).toBe(true);
    db.exec('ROLLBACK');
    await commit;
    expect(await harness.job('patient')).toMatchObject({ status: 'pending' });
    expect(db.prepare('SELECT count(*) FROM users').pluck().get()).toBe(0);
  });

  test("past busyTimeoutMs the application's open transaction makes a commit reject with store_busy", async () => {
    const db = new Database(tempDatabase());
    onTestFinished(() => void db.close());
    const harness = new Harness((phaseLists) => new SqliteStore({ database: db, phaseLists, busyTimeoutMs: 40 }));
    db.exec('BEGIN');
    const commit = harness.commit({ births: [harness.birthGroup([{ id: 'unborn' }])] });
    await expect(commit).rejects.toMatchObject({ code: 'store_busy' });
    db.exec('COMMIT');
    expect(await harness.store.getJob('unborn')).toBeUndefined();
  });
});
