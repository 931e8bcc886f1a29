import { type PhaseContext, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

test('phases run in order and hand their results on', async () => {
  const sums = pipeline('sums')
    .input<{ n: number }>()
    .phase('double', (job) => job.data.n * 2)
    .phase('describe', async (_job, ctx) => ({ text: `twice is ${ctx.phaseResult('double')}` }))
    .phase('last', (_job, ctx) => Object.keys(ctx.phaseResults()));
  const queue = openQueue({ pipelines: [sums] });
  const id = await queue.enqueue('sums', { n: 21 });
  expect(await queue.result(id)).toEqual(['double', 'describe']);
  const job = await queue.getJob(id);
  expect(job?.phaseResults).toEqual({ double: 42, describe: { text: 'twice is 42' }, last: ['double', 'describe'] });
  expect(job?.phases.map((phase) => phase.status)).toEqual(['completed', 'completed', 'completed']);
});

test('a phase that returns nothing has no result', async () => {
  const quiet = pipeline('quiet').phase('run', () => {});
  const queue = openQueue({ pipelines: [quiet] });
  const id = await queue.enqueue('quiet', null);
  expect(await queue.result(id)).toBeUndefined();
  expect((await queue.getJob(id))?.phaseResults).toEqual({});
});

/** Gives the report a turn of its own before the phase ends. */
async function reportThenBreathe(ctx: Pick<PhaseContext, 'progress'>, percent: number, message?: string) {
  ctx.progress(percent, message);
  await new Promise(setImmediate);
}

test('progress has two levels and follows the seed table', async () => {
  const steps = pipeline('steps')
    .phase('download', (_job, ctx) => reportThenBreathe(ctx, 50, 'half way'))
    .phase('process', (_job, ctx) => reportThenBreathe(ctx, 25))
    .phase('upload', (_job, ctx) => reportThenBreathe(ctx, 80));
  const queue = openQueue({ pipelines: [steps] });
  const seen: [string, number, number][] = [];
  queue.on('job:progress', ({ phase, phaseProgress, job }) => seen.push([phase, phaseProgress, job.progress]));
  await queue.result(await queue.enqueue('steps', null));
  expect(seen).toEqual([
    ['download', 50, 17],
    ['process', 25, 42],
    ['upload', 80, 93],
  ]);
});

test('progress is stored before it is told, and a burst keeps the latest', async () => {
  const burst = pipeline('burst').phase('run', async (_job, ctx) => {
    for (let i = 1; i <= 90; i++) ctx.progress(i, `step ${i}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  });
  const queue = openQueue({ pipelines: [burst] });
  const stored: Promise<unknown>[] = [];
  let told = 0;
  queue.on('job:progress', ({ job }) => {
    told++;
    stored.push(queue.getJob(job.id).then((row) => [row?.progress, row?.progressMessage]));
  });
  const id = await queue.enqueue('burst', null);
  await queue.result(id);
  expect(told).toBe(1);
  expect(await Promise.all(stored)).toEqual([[90, 'step 90']]);
  expect(await queue.transitions(id)).toHaveLength(3);
});

test('jobs run by priority, then due time, then age', async () => {
  const order: string[] = [];
  const ordered = pipeline('ordered')
    .input<string>()
    .phase('run', (job) => void order.push(job.data));
  const database = tempDatabase();
  const producer = openQueue({ pipelines: [ordered], database, claim: false });
  const now = Date.now();
  await producer.enqueue('ordered', 'late', { scheduledAt: now + 30 });
  await producer.enqueue('ordered', 'first by age');
  await producer.enqueue('ordered', 'second by age');
  await producer.enqueue('ordered', 'urgent', { priority: 5 });
  await producer.enqueue('ordered', 'whenever', { priority: -5 });
  await new Promise((resolve) => setTimeout(resolve, 40));
  const worker = openQueue({ pipelines: [ordered], database, concurrency: 1 });
  const { jobs } = await worker.listJobs();
  await Promise.all(jobs.map((job) => worker.result(job.id)));
  expect(order).toEqual(['urgent', 'first by age', 'second by age', 'late', 'whenever']);
});

test('what a handler does to its data and to earlier results is seen by nobody else', async () => {
  const greedy = pipeline('greedy')
    .input<{ n: number }>()
    .phase('first', (job) => {
      job.data.n = 99;
      return { list: [1] };
    })
    .phase('second', (job, ctx) => {
      ctx.phaseResult('first').list.push(2);
      ctx.phaseResults().first.list.push(3);
      return [job.data.n, ctx.phaseResult('first').list.length];
    });
  const queue = openQueue({ pipelines: [greedy] });
  const seen: unknown[] = [];
  queue.on('job:completed', ({ job }) => seen.push(job.data, job.phaseResults.first));
  expect(await queue.result(await queue.enqueue('greedy', { n: 1 }))).toEqual([1, 1]);
  expect(seen).toEqual([{ n: 1 }, { list: [1] }]);
});
