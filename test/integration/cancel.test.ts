import { ConflictError, JobCancelledError, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { aborted, gate, nextEvent, openQueue } from '../support/open-queue.ts';

test('a pending job is cancelled, all its phases are marked, and it is told once', async () => {
  const idle = pipeline('idle')
    .phase('one', () => 1)
    .phase('two', () => 2);
  const queue = openQueue({ pipelines: [idle], claim: false });
  let told = 0;
  queue.on('job:cancelled', () => told++);
  const id = await queue.enqueue('idle', null);
  const job = await queue.cancel(id, 'not needed');
  expect(job).toMatchObject({ status: 'cancelled', reason: 'not needed' });
  expect(job.phases.map((phase) => phase.status)).toEqual(['cancelled', 'cancelled']);
  await expect(queue.cancel(id)).rejects.toThrow(ConflictError);
  await expect(queue.cancel(id)).rejects.toThrow(`Job "${id}" is cancelled, which does not allow "cancel".`);
  expect(told).toBe(1);
});

test('two cancels in the same turn are one cancellation and one conflict', async () => {
  const idle = pipeline('idle').phase('one', () => 1);
  const queue = openQueue({ pipelines: [idle], claim: false });
  let told = 0;
  queue.on('job:cancelled', () => told++);
  const id = await queue.enqueue('idle', null);
  const outcomes = await Promise.allSettled([queue.cancel(id), queue.cancel(id)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
  expect(told).toBe(1);
});

test('a running job is cancelled through its signal, and finished phases stay finished', async () => {
  const started = gate();
  const reasons: unknown[] = [];
  const running = pipeline('running')
    .phase('first', () => 'kept')
    .phase('second', async (_job, ctx) => {
      started.open();
      reasons.push((await aborted(ctx.signal)).code);
      ctx.checkpoint();
    })
    .phase('third', () => 'never');
  const queue = openQueue({ pipelines: [running] });
  const id = await queue.enqueue('running', null);
  const result = queue.result(id);
  await started.opened;
  const job = await queue.cancel(id);
  await expect(result).rejects.toBeInstanceOf(JobCancelledError);
  expect(job.phases.map((phase) => phase.status)).toEqual(['completed', 'cancelled', 'cancelled']);
  expect(reasons).toEqual(['cancelled']);
});

test('a handler that ignores its signal cannot hold the job, and keeps its slot until it returns', async () => {
  const started = gate();
  const finish = gate<string>();
  const stubborn = pipeline('stubborn')
    .input<'stubborn' | 'next'>()
    .phase('run', async (job) => {
      if (job.data === 'next') return 'next ran';
      started.open();
      return finish.opened;
    });
  const queue = openQueue({ pipelines: [stubborn], concurrency: 1 });
  const id = await queue.enqueue('stubborn', 'stubborn');
  await started.opened;
  await queue.cancel(id);
  const next = await queue.enqueue('stubborn', 'next');
  expect((await queue.getJob(next))?.status).toBe('pending');
  finish.open('too late');
  expect(await queue.result(next)).toBe('next ran');
  const job = await queue.getJob(id);
  expect(job).toMatchObject({ status: 'cancelled', phaseResults: {} });
  expect((await queue.transitions(id)).map(({ to }) => to)).toEqual(['pending', 'active.run', 'cancelled']);
});

test('a cancelled job can be retried', async () => {
  const again = pipeline('again').phase('run', () => 'ran');
  const queue = openQueue({ pipelines: [again] });
  const id = await queue.enqueue('again', null, { delayMs: 60_000 });
  await queue.cancel(id);
  await queue.retry(id);
  expect(await queue.result(id)).toBe('ran');
});

test('a running job is paused without losing an attempt, and resumed', async () => {
  const started = gate();
  const pausing = pipeline('pausing').phase('run', async (_job, ctx) => {
    if (ctx.signal.aborted || started === undefined) return 'odd';
    if (runs++ > 0) return ctx.attempt;
    started.open();
    await aborted(ctx.signal);
    return 'discarded';
  });
  let runs = 0;
  const queue = openQueue({ pipelines: [pausing] });
  const id = await queue.enqueue('pausing', null);
  await started.opened;
  expect(await queue.pause(id, 'lunch')).toMatchObject({ status: 'paused', attempt: 0, reason: 'lunch' });
  await queue.resume(id);
  expect(await queue.result(id)).toBe(1);
});

test('a job is completed from outside while it runs, and its handler is told', async () => {
  const started = gate();
  const told = gate<string | undefined>();
  const waiting = pipeline('waiting')
    .phase('wait', async (_job, ctx) => {
      started.open();
      told.open((await aborted(ctx.signal)).code);
    })
    .phase('finish', () => ({ approved: false }));
  const queue = openQueue({ pipelines: [waiting] });
  const id = await queue.enqueue('waiting', null);
  await started.opened;
  const job = await queue.complete(id, { approved: true });
  expect(job.phases.map((phase) => phase.status)).toEqual(['skipped', 'skipped']);
  expect(await queue.result(id)).toEqual({ approved: true });
  expect(await told.opened).toBe('already_completed');
  await expect(queue.retry(id)).rejects.toThrow(ConflictError);
});

test('allowedEvents says what may be done in each state', async () => {
  const chart = pipeline('chart').phase('run', () => {
    throw new Error('no');
  });
  const queue = openQueue({ pipelines: [chart] });
  const delayed = await queue.enqueue('chart', null, { delayMs: 60_000 });
  const pending = await queue.getJob(delayed);
  expect(pending && queue.allowedEvents(pending)).toEqual(['cancel', 'pause', 'complete']);
  const failing = nextEvent(queue, 'job:failed');
  await queue.enqueue('chart', null);
  expect(queue.allowedEvents((await failing).job)).toEqual(['retry']);
});

test('a job that is cancelled while its data is being checked is not begun', async () => {
  const checking = gate();
  let checks = 0;
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      // The first check is enqueue's own; the second never ends.
      validate: (value: unknown) => {
        if (checks++ === 0) return { value };
        checking.open();
        return new Promise<{ value: unknown }>(() => {});
      },
    },
  } as const;
  let begun = 0;
  const slow = pipeline('slow')
    .input(schema)
    .phase('run', () => begun++);
  const queue = openQueue({ pipelines: [slow], concurrency: 1 });
  const id = await queue.enqueue('slow', null);
  await checking.opened;
  await queue.cancel(id);
  await expect.poll(async () => (await queue.stats()).running).toBe(0);
  expect(begun).toBe(0);
});

test('what a phase left behind can no longer report for it', async () => {
  let left: { progress(percent: number, message?: string): void } | undefined;
  const two = pipeline('two')
    .phase('first', (_job, ctx) => {
      left = ctx;
    })
    .phase('second', (_job, ctx) => {
      left?.progress(77, 'late');
      ctx.progress(5, 'mine');
      return new Promise<void>((resolve) => setImmediate(resolve));
    });
  const queue = openQueue({ pipelines: [two] });
  const told: unknown[] = [];
  queue.on('job:progress', ({ message }) => told.push(message));
  await queue.result(await queue.enqueue('two', null));
  expect(told).toEqual(['mine']);
});
