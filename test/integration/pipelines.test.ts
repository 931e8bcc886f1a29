import { JobQueue, PhasesChangedError, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { gate, nextEvent, openQueue } from '../support/open-queue.ts';
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
