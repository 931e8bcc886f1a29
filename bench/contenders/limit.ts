/**
 * The limit: better-sqlite3 alone, writing the rows that Millrace writes. Schema and rows are not copied by hand:
 * one real job is taken through its life, its rows are read after each step, and what changed is what is written
 * here, with one prepared statement per row. No checks, no actors, no events: nobody can be faster row by row.
 */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { JobQueue } from 'millrace';
import { mail } from './millrace.ts';
import { payload } from './queue.ts';

type Value = string | number | null;
type Row = Record<string, Value>;
/** Rows of the job in every table, by a key that tells them apart. */
type Image = Map<string, { readonly table: string; readonly row: Row }>;

interface Write {
  readonly sql: string;
  readonly values: readonly Value[];
}

/** What is written at a job's birth, claim and completion. `$id` and `$data` stand for the job's own. */
export interface Recording {
  readonly birth: readonly Write[];
  readonly claim: readonly Write[];
  readonly completion: readonly Write[];
}

/** Tables whose rows do not belong to one job. */
const SHARED = new Set(['millrace_machines', 'millrace_runtimes', 'millrace_counts', 'millrace_migrations']);
const SAMPLE = payload(0);

/** Takes one job through its life and writes down what each step writes. */
export async function record(folder: string): Promise<Recording> {
  const database = join(folder, 'recording.db');
  const producer = new JobQueue({ database, pipelines: [mail()], claim: false });
  const id = await producer.enqueue('mail', SAMPLE);
  const born = imageOf(database, id);
  let claimed: Image | undefined;
  const whileRunning = () => {
    claimed = imageOf(database, id);
  };
  const consumer = new JobQueue({ database, pipelines: [mail(whileRunning)] });
  await consumer.result(id);
  const completed = imageOf(database, id);
  await consumer.shutdown();
  await producer.shutdown();
  if (!claimed) throw new Error('The recorded job was not run.');
  const writes = (before: Image, after: Image) => difference(before, after, id);
  return {
    birth: writes(new Map(), born),
    claim: writes(born, claimed),
    completion: writes(claimed, completed),
  };
}

/** A database with Millrace's schema and pragmas, opened without Millrace. */
export async function openLimit(file: string): Promise<Database.Database> {
  const queue = new JobQueue({ database: file, pipelines: [mail()], claim: false });
  await queue.shutdown();
  const db = new Database(file);
  db.pragma('synchronous = NORMAL');
  db.pragma('journal_size_limit = 16777216');
  return db;
}

/** Prepares writes; the function it answers with writes them for one job. */
export function writer(db: Database.Database, writes: readonly Write[]): (id: string, data: string) => void {
  const prepared = writes.map(({ sql, values }) => ({ statement: db.prepare(sql), values: [...values] }));
  const slots = prepared.map(({ values }) =>
    values.flatMap((value, index) => (value === '$id' || value === '$data' ? [[index, value] as const] : [])),
  );
  return (id, data) => {
    for (const [index, { statement, values }] of prepared.entries()) {
      for (const [slot, what] of slots[index]!) values[slot] = what === '$id' ? id : data;
      statement.run(values);
    }
  };
}

/** Ids that grow, as Millrace's do: random ones would make the indexes slower than they are for Millrace. */
export function growingId(): string {
  return `${Date.now().toString(16).padStart(12, '0')}-${randomUUID()}`.slice(0, 36);
}

function imageOf(database: string, id: string): Image {
  const db = new Database(database, { readonly: true });
  const image: Image = new Map();
  const tables = db
    .prepare<[], string>(`SELECT name FROM sqlite_master WHERE type = 'table' AND name LIKE 'millrace!_%' ESCAPE '!'`)
    .pluck()
    .all();
  for (const table of tables.filter((name) => !SHARED.has(name))) {
    const columns = db.prepare<[string], string>('SELECT name FROM pragma_table_info(?)').pluck().all(table);
    const of = columns.includes('job_id') ? 'job_id' : 'id';
    if (!columns.includes(of)) continue;
    for (const row of db.prepare<[string], Row>(`SELECT * FROM ${table} WHERE ${of} = ?`).all(id)) {
      const name = [table, row.seq !== undefined && table !== 'millrace_jobs' ? row.seq : '', row.name ?? ''];
      image.set(name.join(' '), { table, row });
    }
  }
  db.close();
  return image;
}

/** New rows are inserted whole, changed ones updated in the columns that changed. */
function difference(before: Image, after: Image, id: string): Write[] {
  const data = JSON.stringify(SAMPLE);
  const mark = (value: Value): Value => (value === id ? '$id' : value === data ? '$data' : value);
  return [...after].flatMap(([key, { table, row }]) => {
    const old = before.get(key)?.row;
    // Numbers given by the table itself are left to the table.
    const columns = Object.keys(row).filter((name) => name !== 'n' && name !== 'position');
    if (!old) {
      const sql = `INSERT INTO ${table} (${columns.join(', ')}) VALUES (${columns.map(() => '?').join(', ')})`;
      return [{ sql, values: columns.map((name) => mark(row[name] ?? null)) }];
    }
    const changed = columns.filter((name) => old[name] !== row[name]);
    if (changed.length === 0) return [];
    const sql = `UPDATE ${table} SET ${changed.map((name) => `${name} = ?`).join(', ')} WHERE id = ?`;
    return [{ sql, values: [...changed.map((name) => mark(row[name] ?? null)), '$id'] }];
  });
}
