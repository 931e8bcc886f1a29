import { NotFoundError, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { nextEvent, openQueue } from '../support/open-queue.ts';

const work = pipeline('work').phase('run', () => 'done');

test('finished jobs become stale and then are deleted, hook before event, and the log entry remains', async () => {
  const { clock, advance } = fakeClock();
  const order: string[] = [];
  const queue = openQueue({
    pipelines: [work],
    clock,
    retention: {
      staleAfterMs: 1_000,
      deleteAfterMs: 1_000,
      intervalMs: 500,
      onStale: (job) => order.push(`onStale ${job.status}`),
      onDelete: (job) => order.push(`onDelete ${job.status}`),
    },
  });
  queue.on('job:stale', () => order.push('job:stale'));
  queue.on('job:deleted', ({ deletedJobId }) => order.push(`job:deleted ${deletedJobId}`));
  const id = await queue.enqueue('work', null);
  await queue.result(id);
  const stale = nextEvent(queue, 'job:stale');
  advance(1_001);
  await stale;
  const deleted = nextEvent(queue, 'job:deleted');
  await new Promise(setImmediate);
  advance(1_001);
  await deleted;
  expect(order).toEqual(['onStale stale', 'job:stale', 'onDelete deleted', `job:deleted ${id}`]);
  expect(await queue.getJob(id)).toBeUndefined();
  expect((await queue.transitions(id)).map(({ to }) => to)).toEqual([
    'pending',
    'active.run',
    'completed',
    'stale',
    'deleted',
  ]);
  await expect(queue.retry(id)).rejects.toThrow(NotFoundError);
});

test('a throwing hook is reported and does not stop retention, which goes on in batches', async () => {
  const { clock, advance } = fakeClock();
  const queue = openQueue({
    pipelines: [work],
    clock,
    retention: {
      staleAfterMs: 1_000,
      intervalMs: 500,
      batchSize: 3,
      onStale: () => {
        throw new Error('hook broke');
      },
    },
  });
  const reports: string[] = [];
  queue.on('error', ({ during }) => reports.push(during));
  const ids = await queue.enqueueMany(Array.from({ length: 10 }, () => ({ name: 'work', data: null }) as const));
  await Promise.all(ids.map((id) => queue.result(id)));
  let stale = 0;
  const all = nextEvent(queue, 'job:stale', () => ++stale === 10);
  advance(1_001);
  await all;
  expect(reports).toEqual(Array(10).fill('retention.onStale'));
  expect((await queue.stats()).jobs).toEqual({ stale: 10 });
});

test('the log is pruned by count and by age from its old end', async () => {
  const { clock, advance } = fakeClock();
  const queue = openQueue({ pipelines: [work], clock, retention: { logMaxCount: 2, intervalMs: 500 } });
  const old = await queue.enqueue('work', null);
  await queue.result(old);
  const young = await queue.enqueue('work', null);
  await queue.result(young);
  advance(501);
  await expect
    .poll(async () => [(await queue.transitions(old)).length, (await queue.transitions(young)).length])
    .toEqual([0, 2]);
});

test('a stale failed job can be retried, a stale completed one cannot', async () => {
  const { clock, advance } = fakeClock();
  let broken = true;
  const flaky = pipeline('flaky').phase('run', () => {
    if (broken) throw new Error('broken');
    return 'mended';
  });
  const queue = openQueue({ pipelines: [work, flaky], clock, retention: { staleAfterMs: 1_000, intervalMs: 500 } });
  const completed = await queue.enqueue('work', null);
  const failed = await queue.enqueue('flaky', null);
  await queue.result(completed);
  await queue.result(failed).catch(() => {});
  let stale = 0;
  const both = nextEvent(queue, 'job:stale', () => ++stale === 2);
  advance(1_001);
  await both;
  broken = false;
  await expect(queue.retry(completed)).rejects.toThrow('is stale, which does not allow "retry"');
  await queue.retry(failed);
  expect(await queue.result(failed)).toBe('mended');
});
