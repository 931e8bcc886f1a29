import Database from 'better-sqlite3';
import { JobQueue, pipeline } from 'millrace';
import { expect, onTestFinished, test } from 'vitest';
import { gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

const work = pipeline('work').phase('run', () => 'done');

test('an idle queue notices jobs that another queue has enqueued', async () => {
  const database = tempDatabase();
  const worker = openQueue({ database, pipelines: [work] });
  await worker.result(await worker.enqueue('work', null));
  const producer = openQueue({ database, pipelines: [work], claim: false });
  const completed = nextEvent(worker, 'job:completed');
  const id = await producer.enqueue('work', null);
  expect((await completed).job.id).toBe(id);
});

test('a result is seen in the queue that awaits it when another one brings it, however often others are asked for', async () => {
  const database = tempDatabase();
  const producer = openQueue({ database, pipelines: [work], claim: false });
  const id = await producer.enqueue('work', null);
  const never = await producer.enqueue('work', null, { delayMs: 3_600_000 });
  const result = producer.result(id);
  const asking = setInterval(() => void producer.result(never).catch(() => {}), 300);
  onTestFinished(() => clearInterval(asking));
  openQueue({ database, pipelines: [work] });
  expect(await result).toBe('done');
});

test('a failed commit of a caller does not end the renewal of the lease, nor the place of the job in a shutdown', async () => {
  const database = tempDatabase();
  const started = gate();
  const deaf = pipeline('deaf').phase('run', () => {
    started.open();
    return new Promise<never>(() => {});
  });
  const queue = new JobQueue({ database, pipelines: [deaf], leaseMs: 300, busyTimeoutMs: 0 });
  const id = await queue.enqueue('deaf', null);
  await started.opened;
  const intruder = new Database(database);
  onTestFinished(() => void intruder.close());
  intruder.exec('BEGIN IMMEDIATE');
  await expect(queue.pause(id)).rejects.toMatchObject({ code: 'store_busy' });
  intruder.exec('COMMIT');
  const lease = (await queue.getJob(id))?.leaseExpiresAt ?? 0;
  await expect.poll(async () => (await queue.getJob(id))?.leaseExpiresAt ?? 0).toBeGreaterThan(lease);
  await expect(queue.shutdown({ timeoutMs: 0, graceMs: 0 })).rejects.toMatchObject({ jobIds: [id] });
  const row = intruder.prepare('SELECT status, attempt FROM millrace_jobs').get();
  expect(row).toEqual({ status: 'pending', attempt: 0 });
});

test('processes that open one new file at the same time wait for each other', async () => {
  const database = tempDatabase();
  const first = new Database(database);
  onTestFinished(() => void first.close());
  first.pragma('journal_mode = WAL');
  first.exec('BEGIN IMMEDIATE; CREATE TABLE mine (x)');
  expect(() => new JobQueue({ database, pipelines: [work], busyTimeoutMs: 50 })).toThrow(
    expect.objectContaining({ code: 'store_busy' }),
  );
  first.exec('COMMIT');
  const queue = openQueue({ database, pipelines: [work] });
  expect(await queue.result(await queue.enqueue('work', null))).toBe('done');
});

test('a job that is claimed while the expirer looks is not cancelled as expired', async () => {
  const started = gate();
  const finish = gate<string>();
  const slow = pipeline('slow').phase('run', () => {
    started.open();
    return finish.opened;
  });
  const queue = openQueue({ pipelines: [slow] });
  const id = await queue.enqueue('slow', null, { expiresAt: Date.now() + 50 });
  await started.opened;
  await new Promise((resolve) => setTimeout(resolve, 80));
  finish.open('in time');
  expect(await queue.result(id)).toBe('in time');
});
