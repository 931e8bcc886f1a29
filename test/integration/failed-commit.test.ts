import Database from 'better-sqlite3';
import { JobQueue, pipeline, StoreUnavailableError } from 'millrace';
import { expect, onTestFinished, test } from 'vitest';
import { closeQueue, gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

const echo = pipeline('echo')
  .input<string>()
  .phase('run', (job) => job.data);

/** Takes the job away, as another process would. */
function steal(database: string, id: string): void {
  const thief = new Database(database);
  thief
    .prepare("UPDATE millrace_jobs SET fence = fence + 1, seq = seq + 1, lease_owner = 'thief' WHERE id = ?")
    .run(id);
  thief.close();
}

test('a full disk refuses the caller, changes nothing, and the queue goes on when there is room', async () => {
  const db = new Database(tempDatabase());
  db.pragma('journal_mode = WAL');
  const queue = new JobQueue({ database: db, pipelines: [echo] });
  onTestFinished(() => closeQueue(queue).finally(() => db.close()));
  await queue.result(await queue.enqueue('echo', 'before'));
  const pages = db.pragma('page_count', { simple: true });
  db.pragma(`max_page_count = ${pages}`);
  const heard: string[] = [];
  queue.on('job:enqueued', ({ job }) => heard.push(job.id));
  const big = 'x'.repeat(200_000);
  const refused = queue.enqueue('echo', big);
  await expect(refused).rejects.toThrow(StoreUnavailableError);
  await expect(refused).rejects.toMatchObject({ code: 'store_full' });
  expect(heard).toEqual([]);
  expect((await queue.stats()).jobs).toEqual({ completed: 1 });
  db.pragma('max_page_count = 1000000');
  expect(await queue.result(await queue.enqueue('echo', big))).toBe(big);
});

test('a lock outlasts the wait: callers get the error, a phase outcome is kept and committed later', async () => {
  const database = tempDatabase();
  const started = gate();
  const finish = gate<string>();
  const held = pipeline('held').phase('run', () => {
    started.open();
    return finish.opened;
  });
  const queue = openQueue({ database, pipelines: [held], busyTimeoutMs: 50 });
  const reports: string[] = [];
  queue.on('error', ({ during }) => reports.push(during));
  const id = await queue.enqueue('held', null);
  await started.opened;
  const intruder = new Database(database);
  onTestFinished(() => void intruder.close());
  intruder.exec('BEGIN IMMEDIATE');
  const reported = nextEvent(queue, 'error');
  finish.open('kept');
  await reported;
  await expect(queue.cancel(id)).rejects.toMatchObject({ code: 'store_busy' });
  expect((await queue.getJob(id))?.status).toBe('active');
  intruder.exec('COMMIT');
  expect(await queue.result(id)).toBe('kept');
});

test('a stale fence: the late loser is refused, its handler hears why, and nothing is told', async () => {
  const database = tempDatabase();
  const started = gate();
  const finish = gate<string>();
  const held = pipeline('held').phase('run', async () => {
    started.open();
    return finish.opened;
  });
  const queue = openQueue({ database, pipelines: [held] });
  const told: string[] = [];
  queue.on('job:completed', ({ job }) => told.push(job.id));
  const id = await queue.enqueue('held', null);
  await started.opened;
  steal(database, id);
  finish.open('too late');
  await expect.poll(async () => (await queue.stats()).running).toBe(0);
  expect(told).toEqual([]);
  expect(await queue.getJob(id)).toMatchObject({ status: 'active', leaseOwner: 'thief', phaseResults: {} });
});

test('a job that is taken away at the end of a phase leaves the slot it would have had to others', async () => {
  const database = tempDatabase();
  const started = gate();
  const finish = gate();
  const two = pipeline('two')
    .phase('first', () => {
      started.open();
      return finish.opened;
    })
    .phase('second', () => 'done');
  const queue = openQueue({ database, pipelines: [two, echo], concurrency: 1 });
  const id = await queue.enqueue('two', null);
  await started.opened;
  steal(database, id);
  finish.open();
  expect(await queue.result(await queue.enqueue('echo', 'next'))).toBe('next');
});

test.each([
  ['completed', 'failed'],
  ['completed or failed', 'active'],
])('an outcome that can never be stored (%s) does not hold up others, and its job is %s', async (refused, left) => {
  const db = new Database(tempDatabase());
  const queue = new JobQueue({ database: db, pipelines: [echo] });
  onTestFinished(() => closeQueue(queue).finally(() => db.close()));
  const statuses = refused.includes('failed') ? "'completed', 'failed'" : "'completed'";
  db.exec(`CREATE TRIGGER curse BEFORE UPDATE ON millrace_jobs WHEN NEW.id = 'cursed' AND NEW.status IN (${statuses})
           BEGIN SELECT RAISE(ABORT, 'a curse'); END`);
  const reported = nextEvent(queue, 'error');
  const [cursed = '', ...others] = await queue.enqueueMany([
    { name: 'echo', data: 'x', options: { id: 'cursed' } },
    ...['a', 'b', 'c'].map((data) => ({ name: 'echo', data }) as const),
  ]);
  expect(await Promise.all(others.map((id) => queue.result(id)))).toEqual(['a', 'b', 'c']);
  await reported;
  await expect.poll(async () => (await queue.getJob(cursed))?.status).toBe(left);
  if (left === 'failed') expect(await queue.getJob(cursed)).toMatchObject({ error: { code: 'not_stored' } });
  expect(await queue.result(await queue.enqueue('echo', 'later'))).toBe('later');
});

test('a listener that throws disturbs neither the queue nor other listeners', async () => {
  const queue = openQueue({ pipelines: [echo] });
  const heard: string[] = [];
  const errors: unknown[] = [];
  queue.on('job:completed', () => {
    throw new Error('listener broke');
  });
  queue.on('job:completed', ({ job }) => heard.push(job.id));
  queue.on('error', ({ error, during }) => errors.push([(error as Error).message, during]));
  const id = await queue.enqueue('echo', 'x');
  await queue.result(id);
  expect(heard).toEqual([id]);
  expect(errors).toEqual([['listener broke', 'a listener of "job:completed"']]);
});
