import { JobQueue, pipeline, ShutdownTimeoutError, ShuttingDownError } from 'millrace';
import { describe, expect, test } from 'vitest';
import { aborted, gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

test('shutdown lets running jobs finish all their phases', async () => {
  const database = tempDatabase();
  const started = gate();
  const finish = gate();
  const two = pipeline('two')
    .phase('first', () => {
      started.open();
      return finish.opened;
    })
    .phase('second', () => 'done');
  const queue = new JobQueue({ database, pipelines: [two] });
  const id = await queue.enqueue('two', null);
  await started.opened;
  const ended = queue.shutdown();
  finish.open();
  await ended;
  const later = openQueue({ database, pipelines: [two], claim: false });
  expect((await later.getJob(id))?.status).toBe('completed');
});

test('calls during and after shutdown are refused, and a second call returns the same promise', async () => {
  const queue = new JobQueue({ database: ':memory:', pipelines: [pipeline('none').phase('run', () => 1)] });
  const first = queue.shutdown();
  expect(queue.shutdown()).toBe(first);
  const calls = [
    () => queue.enqueue('none', null),
    () => queue.enqueueMany([]),
    () => queue.cancel('x'),
    () => queue.retry('x'),
    () => queue.pause('x'),
    () => queue.resume('x'),
    () => queue.complete('x'),
    () => queue.getJob('x'),
    () => queue.listJobs(),
    () => queue.stats(),
    () => queue.transitions('x'),
    () => queue.result('x'),
  ];
  for (const call of calls) await expect(call()).rejects.toThrow(ShuttingDownError);
  await first;
  for (const call of calls) await expect(call()).rejects.toThrow(ShuttingDownError);
});

test('a result that is still awaited is refused when the queue ends', async () => {
  const idle = pipeline('idle').phase('run', () => 1);
  const queue = new JobQueue({ database: ':memory:', pipelines: [idle] });
  const result = queue.result(await queue.enqueue('idle', null, { delayMs: 60_000 }));
  const refused = expect(result).rejects.toThrow(ShuttingDownError);
  await queue.shutdown();
  await refused;
});

describe.each([
  ['release', 'pending'],
  ['pause', 'paused'],
  ['cancel', 'cancelled'],
] as const)('onShutdown: %s', (onShutdown, status) => {
  test(`a job that heeds its signal is left ${status} and keeps its finished phases`, async () => {
    const database = tempDatabase();
    const started = gate();
    const codes: (string | undefined)[] = [];
    const slow = pipeline('slow')
      .phase('first', () => 'kept')
      .phase('second', async (_job, ctx) => {
        started.open();
        codes.push((await aborted(ctx.signal)).code);
        throw ctx.signal.reason;
      });
    const queue = new JobQueue({ database, pipelines: [slow], onShutdown });
    const id = await queue.enqueue('slow', null);
    await started.opened;
    const error = await queue.shutdown({ timeoutMs: 10 }).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ShutdownTimeoutError);
    expect((error as ShutdownTimeoutError).jobIds).toEqual([id]);
    expect(codes).toEqual(['shutdown']);
    const later = openQueue({ database, pipelines: [slow], claim: false });
    const job = await later.getJob(id);
    expect(job).toMatchObject({ status, leaseOwner: null, phaseResults: { first: 'kept' } });
    if (status !== 'cancelled') expect(job?.attempt).toBe(0);
  });

  test(`a job that ignores its signal is left ${status} too, and shutdown ends`, async () => {
    const database = tempDatabase();
    const started = gate();
    const deaf = pipeline('deaf').phase('run', () => {
      started.open();
      return new Promise<never>(() => {});
    });
    const queue = new JobQueue({ database, pipelines: [deaf], onShutdown });
    const id = await queue.enqueue('deaf', null);
    await started.opened;
    await expect(queue.shutdown({ timeoutMs: 10, graceMs: 10 })).rejects.toThrow(ShutdownTimeoutError);
    const later = openQueue({ database, pipelines: [deaf], claim: false });
    expect((await later.getJob(id))?.status).toBe(status);
  });
});

test('a job whose handler calls the queue while it shuts down is given back, not failed', async () => {
  const database = tempDatabase();
  const closing = gate();
  const parent = pipeline('parent').phase('run', async (): Promise<string> => {
    await closing.opened;
    return queue.enqueue('parent', null);
  });
  const queue: JobQueue<readonly [typeof parent]> = new JobQueue({ database, pipelines: [parent] });
  const started = nextEvent(queue, 'job:started');
  const id = await queue.enqueue('parent', null);
  await started;
  const ended = queue.shutdown();
  closing.open();
  await ended;
  const reader = openQueue({ database, pipelines: [], claim: false });
  expect(await reader.getJob(id)).toMatchObject({ status: 'pending', attempt: 0, error: null });
});

test('shutdown ends although a handler reports without end', async () => {
  const started = gate();
  const chatty = pipeline('chatty').phase('run', async (_job, ctx) => {
    for (let i = 0; !ctx.signal.aborted; i++) {
      ctx.progress(i % 100);
      if (i === 10) started.open();
      await new Promise(setImmediate);
    }
  });
  const queue = new JobQueue({ database: tempDatabase(), pipelines: [chatty] });
  await queue.enqueue('chatty', null);
  await started.opened;
  await expect(queue.shutdown({ timeoutMs: 20, graceMs: 5_000 })).rejects.toThrow(ShutdownTimeoutError);
});

test('a handler that calls another queue, which is shutting down, fails like any other', async () => {
  const other = new JobQueue({ database: ':memory:', pipelines: [pipeline('none').phase('run', () => 1)] });
  await other.shutdown();
  const caller = pipeline('caller').phase('run', () => other.enqueue('none', null));
  const queue = openQueue({ pipelines: [caller] });
  const id = await queue.enqueue('caller', null);
  await expect(queue.result(id)).rejects.toThrow('The queue is shutting down or closed');
  expect(await queue.getJob(id)).toMatchObject({ status: 'failed', attempt: 1 });
});

test('shutdown rejects options it cannot keep, and the queue goes on', async () => {
  const queue = openQueue({ pipelines: [pipeline('one').phase('run', () => 1)] });
  await expect(queue.shutdown({ graceMs: -1 })).rejects.toThrow('options.graceMs');
  expect(await queue.result(await queue.enqueue('one', null))).toBe(1);
});

test('a handler that outlives its cancelled job is no reason for shutdown to reject', async () => {
  const started = gate();
  const deaf = pipeline('deaf').phase('run', () => {
    started.open();
    return new Promise(() => {});
  });
  const queue = new JobQueue({ database: ':memory:', pipelines: [deaf] });
  const id = await queue.enqueue('deaf', null);
  await started.opened;
  await queue.cancel(id);
  await queue.shutdown({ timeoutMs: 0, graceMs: 0 });
});
