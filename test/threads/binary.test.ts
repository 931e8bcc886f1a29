import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { JobQueue, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { expectLawful } from '../support/laws.ts';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';
import { at } from './at.ts';

const binary = (name: string) => ({ worker: at('binary.js'), export: name });
const sha = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('64 MiB are handed through three phases, moved and not copied, and are durable at each', async () => {
  const flow = pipeline('flow')
    .input<{ mib: number }>()
    .phase('make', binary('make'))
    .phase('second', binary('pass'))
    .phase('third', binary('pass'))
    .phase('digest', binary('digest'));
  const queue = openQueue({ pipelines: [flow], threads: { count: 1 } });
  const id = await queue.enqueue('flow', { mib: 64 });
  const digests = (await queue.result(id)) as Record<string, string>;
  expect(new Set(Object.values(digests)).size).toBe(1);
  expect(Object.keys(digests)).toEqual(['make', 'second', 'third']);
  const stored = (await queue.phaseResult(id, 'second')) as Uint8Array;
  expect(stored).toBeInstanceOf(Uint8Array);
  expect([stored.byteLength, sha(stored)]).toEqual([64 * 1024 * 1024, digests.make]);
  const job = await queue.getJob(id);
  expect(job?.phaseResults.make).toEqual({ blob: 'Uint8Array', bytes: 64 * 1024 * 1024 });
  // Handed on with the task itself: the digest asks the store for the two that are not the last.
  expect(job?.phases.map(({ usage }) => usage?.bytesIn)).toEqual([0, 1, 1, 1].map((n) => n * 64 * 1024 * 1024));
});

test('binary values nested in a result come back where they were, as what they were', async () => {
  const flow = pipeline('flow')
    .phase('nested', binary('nested'))
    .phase('inline', (_job, ctx) => {
      const result = ctx.phaseResult('nested') as {
        parts: [{ bytes: Uint8Array }, { bytes: ArrayBuffer }];
        empty: Uint8Array;
        again: Uint8Array;
      };
      const [small, whole] = result.parts;
      return {
        small: [small.bytes instanceof Uint8Array, new TextDecoder().decode(small.bytes)],
        whole: [whole.bytes instanceof ArrayBuffer, [...new Uint8Array(whole.bytes)]],
        empty: result.empty.byteLength,
        again: new TextDecoder().decode(result.again),
      };
    });
  const queue = openQueue({ pipelines: [flow], threads: { count: 1 } });
  const id = await queue.enqueue('flow', null);
  expect(await queue.result(id)).toEqual({
    small: [true, 'a small one'],
    whole: [true, [1, 2, 3]],
    empty: 0,
    again: 'a small one',
  });
  expect((await queue.getJob(id))?.phaseResults.nested).toEqual({
    title: 'three',
    parts: [{ bytes: { blob: 'Uint8Array', bytes: 11 } }, { bytes: { blob: 'ArrayBuffer', bytes: 3 } }],
    empty: { blob: 'Uint8Array', bytes: 0 },
    again: { blob: 'Uint8Array', bytes: 11 },
  });
});

test('inline phases return bytes too, and what they do to them afterwards is not stored', async () => {
  const bytes = new Uint8Array([1, 2, 3]);
  const flow = pipeline('flow')
    .phase('make', () => {
      setImmediate(() => bytes.fill(9));
      return { bytes };
    })
    .phase('look', (_job, ctx) => [...ctx.phaseResult('make').bytes]);
  const queue = openQueue({ pipelines: [flow] });
  const id = await queue.enqueue('flow', null);
  expect(await queue.result(id)).toEqual([1, 2, 3]);
  expect(await queue.phaseResult(id, 'make')).toEqual({ bytes: new Uint8Array([1, 2, 3]) });
});

test('the result of a job may be bytes', async () => {
  const flow = pipeline('flow').phase('make', () => new Uint8Array([4, 5]));
  const queue = openQueue({ pipelines: [flow] });
  expect(await queue.result(await queue.enqueue('flow', null))).toEqual(new Uint8Array([4, 5]));
});

test.each([
  ['other views', binary('wrong'), 'is a Float64Array'],
  ['more than maxBlobBytes', binary('make'), 'maxBlobBytes (1000000)'],
  ['shared memory, unless the phase allows it', binary('shared'), 'is a SharedArrayBuffer'],
])('%s fail the phase and say what to do', async (_, phase, text) => {
  const flow = pipeline('flow').input<{ mib: number }>().phase('run', phase);
  const queue = openQueue({ pipelines: [flow], threads: { count: 1 }, maxBlobBytes: 1_000_000 });
  const id = await queue.enqueue('flow', { mib: 1 });
  await expect(queue.result(id)).rejects.toThrow(text);
  expect((await queue.getJob(id))?.error).toMatchObject({ outcome: 'bad_result', code: 'bad_result' });
});

test('shared memory is handed on by reference, and is gone with its process', async () => {
  const database = tempDatabase();
  const flow = (hold: boolean) =>
    pipeline('flow')
      .phase('shared', { ...binary('shared'), shared: true })
      .phase('first', binary('addOne'))
      .phase('second', binary('addOne'))
      .phase('hold', async () => {
        if (hold) await new Promise(() => {});
      })
      .phase('third', binary('addOne'));
  const queue = new JobQueue({ database, pipelines: [flow(true)], threads: { count: 1 } });
  const held = nextEvent(queue, 'job:phase:completed', ({ transition }) => transition.phase === 'second');
  const id = await queue.enqueue('flow', null);
  expect((await held).job.phaseResults).toMatchObject({
    shared: { memory: { blob: 'SharedArrayBuffer', bytes: 8 } },
    first: 42,
    second: 43,
  });
  await queue.shutdown({ timeoutMs: 0, graceMs: 0 }).catch(() => {});
  const later = openQueue({ database, pipelines: [flow(false)], threads: { count: 1 } });
  await expect(later.result(id)).rejects.toThrow('it lives only as long as its process and its job');
});

test('deleting a job takes its bytes and lines with it', async () => {
  const database = tempDatabase();
  const flow = pipeline('flow').phase('make', (_job, ctx) => {
    ctx.log('a line');
    return new Uint8Array([1]);
  });
  const queue = openQueue({
    database,
    pipelines: [flow],
    retention: { staleAfterMs: 0, deleteAfterMs: 0, intervalMs: 10 },
  });
  const deleted = nextEvent(queue, 'job:deleted');
  await queue.enqueue('flow', null);
  await deleted;
  const { default: Database } = await import('better-sqlite3');
  const db = new Database(database, { readonly: true });
  const count = (table: string) => db.prepare(`SELECT count(*) FROM ${table}`).pluck().get();
  expect([count('millrace_blobs'), count('millrace_logs'), count('millrace_payloads')]).toEqual([0, 0, 0]);
  db.close();
});

test('law 4 with bytes: killed between binary phases, the next process reads them back', async () => {
  const database = tempDatabase();
  const flow = pipeline('flow')
    .input<{ mib: number }>()
    .phase('make', binary('make'))
    .phase('wait', { worker: at('spin.js'), export: 'sleepy' })
    .phase('digest', binary('digest'));
  const script = `
    import { JobQueue, pipeline } from 'millrace';
    const at = (name) => new URL(name, ${JSON.stringify(at('').href)});
    const flow = pipeline('flow')
      .phase('make', { worker: at('binary.js'), export: 'make' })
      .phase('wait', () => process.kill(process.pid, 'SIGKILL'))
      .phase('digest', { worker: at('binary.js'), export: 'digest' });
    const queue = new JobQueue({ database: ${JSON.stringify(database)}, pipelines: [flow], threads: { count: 1 } });
    await queue.enqueue('flow', { mib: 8, ms: 1 }, { id: 'bytes' });
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('../..', import.meta.url),
    stdio: 'inherit',
  });
  expect(await new Promise((resolve) => child.on('exit', (_code, signal) => resolve(signal)))).toBe('SIGKILL');
  expectLawful(database);
  const short = pipeline('flow')
    .input<{ mib: number }>()
    .phase('make', binary('make'))
    .phase('wait', () => null)
    .phase('digest', (_job, ctx) => sha(ctx.phaseResult('make') as Uint8Array));
  expect(flow.phases).toHaveLength(short.phases.length);
  const queue = openQueue({ database, pipelines: [short], threads: { count: 1 } });
  const digest = await queue.result('bytes');
  expect(digest).toBe(sha((await queue.phaseResult('bytes', 'make')) as Uint8Array));
  expect(
    (await queue.transitions('bytes')).filter(({ phase, event }) => phase === 'make' && event === 'claimed'),
  ).toHaveLength(1);
});
