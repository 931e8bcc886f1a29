import Database from 'better-sqlite3';
import { JobCancelledError, JobQueue, PhasesChangedError, pipeline, RetryAfter } from 'millrace';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { expectLawful } from '../support/laws.ts';
import { closeQueue, gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

/** A database with one job that has finished `a` and failed in `b` of [a, b], paused there. */
async function halfDone(): Promise<{ database: string; id: string }> {
  const database = tempDatabase();
  const old = pipeline('changing')
    .phase('a', () => 'from a')
    .phase('b', () => {
      throw new Error('later');
    })
    .options({ retry: { maxAttempts: 9, backoff: { type: 'fixed', baseMs: 60_000 }, disposition: 'recoverable' } });
  const queue = new JobQueue({ database, pipelines: [old] });
  const retrying = nextEvent(queue, 'job:retrying');
  const id = await queue.enqueue('changing', null);
  await retrying;
  await queue.pause(id);
  await queue.shutdown();
  return { database, id };
}

test('jobs whose finished phases begin the new list go on under it', async () => {
  const { database, id } = await halfDone();
  const longer = pipeline('changing')
    .phase('a', () => 'never again')
    .phase('between', (_job, ctx) => `after ${ctx.phaseResult('a')}`)
    .phase('b', (_job, ctx) => ctx.phaseResults());
  const queue = openQueue({ database, pipelines: [longer] });
  await queue.retry(id);
  expect(await queue.result(id)).toEqual({ a: 'from a', between: 'after from a' });
});

const renamed = pipeline('changing')
  .phase('fetch', () => 'from fetch')
  .phase('b', () => 'from b');

test('jobs whose finished phases are gone are refused at construction, by name and number', async () => {
  const { database } = await halfDone();
  const open = () => new JobQueue({ database, pipelines: [renamed] });
  expect(open).toThrow(PhasesChangedError);
  expect(open).toThrow(/"changing": 1 unfinished job.*\[a, b\].*\[fetch, b\]/);
});

test("onPhasesChanged: 'migrate' runs such jobs from the first phase that differs", async () => {
  const { database, id } = await halfDone();
  const queue = openQueue({ database, pipelines: [renamed], onPhasesChanged: 'migrate' });
  expect(await queue.getJob(id)).toMatchObject({ phaseResults: {}, phaseIndex: 0 });
  await queue.retry(id);
  expect(await queue.result(id)).toBe('from b');
  expect((await queue.getJob(id))?.phaseResults).toEqual({ fetch: 'from fetch', b: 'from b' });
});

test("onPhasesChanged: 'fail' fails such jobs, which cannot be retried but can be seen", async () => {
  const { database, id } = await halfDone();
  const queue = openQueue({ database, pipelines: [renamed], onPhasesChanged: 'fail' });
  await expect(queue.result(id)).rejects.toThrow('no longer has the phases [a, b]');
  const job = await queue.getJob(id);
  expect(job).toMatchObject({ status: 'failed', error: { code: 'phases_changed' } });
  expect(job && queue.allowedEvents(job)).toEqual([]);
  await expect(queue.retry(id)).rejects.toThrow('born under the phases [a, b]');
});

test('a job born under an older schema is checked again before it runs', async () => {
  const database = tempDatabase();
  const loose = pipeline('strict')
    .input<{ n?: number }>()
    .phase('run', () => 'ran');
  const old = new JobQueue({ database, pipelines: [loose], claim: false });
  const good = await old.enqueue('strict', { n: 1 });
  const bad = await old.enqueue('strict', {});
  await old.shutdown();
  const strict = pipeline('strict')
    .input(z.object({ n: z.number().transform((n) => n + 1) }))
    .phase('run', (job) => job.data.n);
  const queue = openQueue({ database, pipelines: [strict] });
  expect(await queue.result(good)).toBe(2);
  await expect(queue.result(bad)).rejects.toThrow('n: ');
  expect((await queue.getJob(bad))?.error?.code).toBe('invalid_input');
});

test('a pipeline has no more jobs running than its own limit, while others go on', async () => {
  const hold = gate();
  let running = 0;
  let most = 0;
  const narrow = pipeline('narrow')
    .phase('run', async () => {
      most = Math.max(most, ++running);
      await hold.opened;
      running--;
    })
    .options({ concurrency: 2 });
  const wide = pipeline('wide').phase('run', () => 'ran');
  const queue = openQueue({ pipelines: [narrow, wide], concurrency: 4 });
  const ids = await queue.enqueueMany(Array.from({ length: 6 }, () => ({ name: 'narrow', data: null }) as const));
  expect(await queue.result(await queue.enqueue('wide', null))).toBe('ran');
  expect(running).toBe(2);
  hold.open();
  await Promise.all(ids.map((id) => queue.result(id)));
  expect(most).toBe(2);
});

test('a finished job keeps its phases when its pipeline grows, and stays what it was', async () => {
  const database = tempDatabase();
  const short = pipeline('growing').phase('a', () => 'from a');
  const first = new JobQueue({ database, pipelines: [short] });
  const done = await first.enqueue('growing', null);
  await first.result(done);
  const dropped = await first.enqueue('growing', null, { delayMs: 60_000 });
  await first.cancel(dropped);
  await first.shutdown();
  const long = short.phase('b', () => 'from b');
  const queue = openQueue({
    database,
    pipelines: [long],
    retention: { staleAfterMs: 0, intervalMs: 10 },
  });
  await expect.poll(async () => (await queue.stats()).jobs).toEqual({ stale: 2 });
  const job = await queue.getJob(done);
  expect(job).toMatchObject({ status: 'stale', progress: 100, phases: [{ name: 'a', status: 'completed' }] });
  expect(queue.allowedEvents(job!)).toEqual([]);
  expect(await queue.result(done)).toBe('from a');
  expect((await queue.getJob(dropped))?.phases).toMatchObject([{ name: 'a', status: 'cancelled' }]);
  await expect(queue.result(dropped)).rejects.toThrow(JobCancelledError);
});

test("onPhasesChanged: 'migrate' takes up orphaned jobs too, and the log goes on where it was", async () => {
  const database = tempDatabase();
  const started = gate();
  const old = pipeline('changing')
    .phase('a', () => 'from a')
    .phase('b', () => {
      started.open();
      return new Promise<never>(() => {});
    });
  const first = new JobQueue({ database, pipelines: [old] });
  const id = await first.enqueue('changing', null);
  await started.opened;
  // As after kill -9: the row says active, and its holder is a process that is gone.
  const db = new Database(database);
  db.exec('UPDATE millrace_runtimes SET pid = 999999999');
  const queue = openQueue({ database, pipelines: [renamed], onPhasesChanged: 'migrate' });
  expect(await queue.result(id)).toBe('from b');
  expect((await queue.getJob(id))?.phaseResults).toEqual({ fetch: 'from fetch', b: 'from b' });
  const path = (await queue.transitions(id)).map(({ from, to }) => `${from} ${to}`);
  expect(path.slice(2)).toEqual([
    'active.a active.b',
    'active.b retrying',
    'retrying active.fetch',
    'active.fetch active.b',
    'active.b completed',
  ]);
  db.close();
  await closeQueue(first);
  expectLawful(database);
});

test('a job of phases this program does not have is left to the program that has them, and holds up nobody', async () => {
  const database = tempDatabase();
  const mine = pipeline('shared')
    .phase('a', () => 1)
    .phase('b', () => 'mine');
  const queue = openQueue({ database, pipelines: [mine], concurrency: 1 });
  const newer = pipeline('shared')
    .phase('x', () => 1)
    .phase('y', () => {
      throw new RetryAfter(0);
    });
  const theirs = new JobQueue({ database, pipelines: [newer], onPhasesChanged: 'migrate' });
  const retrying = nextEvent(theirs, 'job:retrying');
  await queue.result(await queue.enqueue('shared', null));
  const foreign = await theirs.enqueue('shared', null, { priority: 9 });
  await Promise.race([retrying, nextEvent(queue, 'job:completed')]);
  await theirs.shutdown();
  const ids = await Promise.all([1, 2, 3].map(() => queue.enqueue('shared', null)));
  for (const id of ids) expect(await queue.result(id)).toBe('mine');
  const { status, phases } = (await queue.getJob(foreign)) ?? {};
  expect([status, phases?.[0]?.name]).toEqual(phases?.[0]?.name === 'x' ? ['retrying', 'x'] : ['completed', 'a']);
});
