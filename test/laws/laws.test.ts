/** One test per law of the design; those that need a dying process are in test/crash. */
import Database from 'better-sqlite3';
import {
  ConflictError,
  InvalidInputError,
  JobQueue,
  pipeline,
  type QueueEvents,
  type TransitionRecord,
} from 'millrace';
import { expect, onTestFinished, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { expectLawful } from '../support/laws.ts';
import { aborted, closeQueue, gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

const NAMES = [
  'job:enqueued',
  'job:started',
  'job:phase:completed',
  'job:completed',
  'job:retrying',
  'job:failed',
  'job:cancelled',
] as const satisfies readonly (keyof QueueEvents)[];

const two = pipeline('two')
  .phase('first', () => 1)
  .phase('second', () => 2);

test('law 1, persist then tell: another connection already sees what a listener is told', async () => {
  const database = tempDatabase();
  const queue = openQueue({ database, pipelines: [two] });
  const other = new Database(database, { readonly: true });
  onTestFinished(() => void other.close());
  const entry = other.prepare('SELECT to_state FROM millrace_transitions WHERE position = ? AND job_id = ?').pluck();
  let heard = 0;
  for (const name of NAMES) {
    queue.on(name, ({ job, transition }) => {
      heard++;
      expect(entry.get(transition.position, job.id)).toBe(transition.to);
    });
  }
  const row = other.prepare('SELECT status FROM millrace_jobs WHERE id = ?').pluck();
  const ids = await Promise.all(Array.from({ length: 20 }, () => queue.enqueue('two', null)));
  for (const id of ids) expect(row.get(id)).toBeDefined();
  await Promise.all(ids.map((id) => queue.result(id)));
  expect(heard).toBe(20 * 5);
});

test('law 1, a commit that fails is as if it never happened: nobody is told anything', async () => {
  const db = new Database(tempDatabase());
  const queue = new JobQueue({ database: db, pipelines: [two], busyTimeoutMs: 0 });
  onTestFinished(() => closeQueue(queue).finally(() => db.close()));
  const told: string[] = [];
  for (const name of NAMES) queue.on(name, ({ type }) => told.push(type));
  const id = await queue.enqueue('two', null, { delayMs: 60_000 });
  told.length = 0;
  const thief = new Database(db.name);
  onTestFinished(() => void thief.close());
  thief.exec('BEGIN IMMEDIATE');
  const refused = await Promise.allSettled([queue.cancel(id), queue.enqueue('two', null), queue.cancel(id)]);
  expect(refused.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
  thief.exec('ROLLBACK');
  expect(told).toEqual([]);
  expect((await queue.stats()).jobs).toEqual({ pending: 1 });
  await queue.cancel(id);
  expect(told).toEqual(['job:cancelled']);
});

test('law 2, the statechart is the only judge: a refused event is an error that names job, state and event', async () => {
  const database = tempDatabase();
  const queue = openQueue({ database, pipelines: [two] });
  const id = await queue.enqueue('two', null);
  await queue.result(id);
  const refused = queue.resume(id);
  await expect(refused).rejects.toThrow(ConflictError);
  await expect(refused).rejects.toMatchObject({ jobId: id, state: 'completed', event: 'resume' });
  expectLawful(database);
});

test('law 3, one holder: a job cancelled by another queue on the file stops the handler that holds it', async () => {
  const database = tempDatabase();
  const started = gate();
  const code = gate<string | undefined>();
  const held = pipeline('held').phase('run', async (_job, ctx) => {
    started.open();
    code.open((await aborted(ctx.signal)).code);
  });
  const holder = openQueue({ database, pipelines: [held], leaseMs: 300 });
  const other = openQueue({ database, pipelines: [held], claim: false });
  const id = await other.enqueue('held', null);
  await holder.enqueue('held', null, { delayMs: 60_000 });
  await started.opened;
  await other.cancel(id);
  expect(await code.opened).toBe('cancelled');
  expect((await holder.getJob(id))?.status).toBe('cancelled');
});

test('law 5, the log has no holes: positions rise by one and every job counts 0, 1, 2', async () => {
  const database = tempDatabase();
  const queue = openQueue({ database, pipelines: [two] });
  const heard: TransitionRecord[] = [];
  for (const name of ['job:enqueued', 'job:started', 'job:phase:completed'] as const) {
    queue.on(name, ({ transition }) => heard.push(transition));
  }
  const ids = await Promise.all(Array.from({ length: 50 }, () => queue.enqueue('two', null)));
  await Promise.all(ids.map((id) => queue.result(id)));
  expectLawful(database);
  expect(heard.map(({ position }) => position)).toEqual(heard.map((_, index) => index + 1));
});

test('law 6, a runaway is stopped: timeout, cancel and shutdown each end what heeds its signal', async () => {
  const codes: (string | undefined)[] = [];
  const endless = pipeline('endless')
    .input<'cancel' | 'timeout' | 'shutdown'>()
    .phase('run', async (job, ctx) => {
      codes.push(`${job.data} ${(await aborted(ctx.signal)).code}`);
      throw ctx.signal.reason;
    });
  const queue = openQueue({ pipelines: [endless] });
  const timedOut = await queue.enqueue('endless', 'timeout', { timeoutMs: 20, maxAttempts: 1 });
  await expect(queue.result(timedOut)).rejects.toThrow('timeoutMs');
  const started = nextEvent(queue, 'job:started');
  const id = await queue.enqueue('endless', 'cancel');
  await started;
  await queue.cancel(id);
  await expect.poll(async () => (await queue.stats()).running).toBe(0);
  const last = nextEvent(queue, 'job:started');
  await queue.enqueue('endless', 'shutdown');
  await last;
  await expect(queue.shutdown({ timeoutMs: 0 })).rejects.toThrow('1 job(s) were still running');
  expect(codes).toEqual(['timeout timeout', 'cancel cancelled', 'shutdown shutdown']);
});

test('law 7, time lives in columns: a retry waits out its time across a restart', async () => {
  const { clock, advance } = fakeClock();
  const database = tempDatabase();
  let runs = 0;
  const flaky = pipeline('flaky')
    .phase('run', () => {
      if (++runs === 1) throw new Error('once');
      return runs;
    })
    .options({ retry: { backoff: { type: 'fixed', baseMs: 60_000 }, disposition: 'recoverable' } });
  const first = new JobQueue({ database, pipelines: [flaky], clock });
  const retrying = nextEvent(first, 'job:retrying');
  const id = await first.enqueue('flaky', null);
  await retrying;
  await first.shutdown();
  const second = openQueue({ database, pipelines: [flaky], clock });
  const result = second.result(id);
  advance(59_999);
  await second.stats();
  expect(runs).toBe(1);
  advance(1);
  expect(await result).toBe(2);
});

test('law 8, memory is for live work only: pending jobs are rows', async () => {
  const queue = openQueue({ pipelines: [two] });
  const many = Array.from(
    { length: 20_000 },
    () => ({ name: 'two', data: null, options: { delayMs: 3_600_000 } }) as const,
  );
  await queue.enqueueMany(many);
  const before = process.memoryUsage().heapUsed;
  for (let i = 0; i < 4; i++) await queue.enqueueMany(many);
  globalThis.gc?.();
  const grown = process.memoryUsage().heapUsed - before;
  expect((await queue.stats()).jobs).toEqual({ pending: 100_000 });
  // 80,000 live actors would be over 300 MB; what is measured here is garbage not yet collected.
  expect(grown).toBeLessThan(150 * 1024 * 1024);
});

test('law 9, bad input is refused at the door: one wrong job of three, and nothing is written', async () => {
  const queue = openQueue({ pipelines: [two], claim: false });
  const jobs = [
    { name: 'two', data: null },
    { name: 'two', data: { at: new Date() } },
    { name: 'two', data: null },
  ] as const;
  await expect(queue.enqueueMany(jobs)).rejects.toThrow(InvalidInputError);
  await expect(queue.enqueueMany(jobs)).rejects.toThrow('data.at: is a Date');
  expect((await queue.stats()).jobs).toEqual({});
});
