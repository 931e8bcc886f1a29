import { type JobRecord, pipeline } from 'millrace';
import { describe, expect, test } from 'vitest';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { at } from './at.ts';

/** Runs one job through `before` and then a handler of faults.js; answers with its record when it is at rest. */
async function endOf(name: string, options: { memoryMb?: number; maxAttempts?: number } = {}): Promise<JobRecord> {
  const { maxAttempts = 1, ...limits } = options;
  const faults = pipeline('faults')
    .phase('before', () => 'kept')
    .phase('fault', { worker: at('faults.js'), export: name, ...limits })
    .options({ retry: { maxAttempts, disposition: 'fatal', backoff: { type: 'fixed', baseMs: 0 } } });
  const queue = openQueue({ pipelines: [faults], threads: { count: 1 } });
  const ended = Promise.race([nextEvent(queue, 'job:completed'), nextEvent(queue, 'job:failed')]);
  await queue.enqueue('faults', null);
  const { job } = await ended;
  // The thread that failed, or its successor, goes on working.
  const echo = await queue.enqueue('faults', null, { maxAttempts: 1 });
  await queue.result(echo).catch(() => {});
  return job as JobRecord;
}

test('an error crosses with its name, message, stack, code, cause and own fields', async () => {
  const { error } = await endOf('rich');
  expect(error).toMatchObject({
    name: 'ShopClosedError',
    message: 'no bread today',
    code: 'E_CLOSED',
    outcome: 'threw',
    phase: 'fault',
    data: { until: { day: 'monday', at: [9, 30] } },
    cause: { name: 'RangeError', message: 'the oven is cold', cause: { name: 'NonError' } },
  });
  expect(error?.stack).toContain('faults.js');
  expect(error?.cause?.cause?.message).toContain('no wood');
});

test('classify sees the error as it was thrown, and how the attempt ended', async () => {
  const seen: unknown[] = [];
  const faults = pipeline('faults')
    .phase('fault', { worker: at('faults.js'), export: 'rich' })
    .options({
      retry: {
        classify: (error) => {
          seen.push([
            error instanceof Error,
            error.name,
            error.code,
            error.outcome,
            (error as { until?: unknown }).until,
          ]);
          return 'fatal';
        },
      },
    });
  const queue = openQueue({ pipelines: [faults], threads: { count: 1 } });
  await queue.result(await queue.enqueue('faults', null)).catch(() => {});
  expect(seen).toEqual([[true, 'ShopClosedError', 'E_CLOSED', 'threw', { day: 'monday', at: [9, 30] }]]);
});

describe('whatever ends an attempt has a name', () => {
  test.each([
    ['text', 'threw', 'just a string'],
    ['nothing', 'threw', 'undefined'],
    ['exit', 'crashed', 'exited with code: 7'],
    ['uncaught', 'crashed', 'thrown from a timer'],
    ['unhandled', 'crashed', 'nobody catches this'],
    ['aFunction', 'bad_result', 'result.run is a function'],
    ['aDate', 'bad_result', 'result.at is a Date'],
    ['tooLong', 'bad_result', 'maxPayloadBytes'],
  ])('%s is %s', async (name, outcome, text) => {
    const job = await endOf(name);
    expect(job).toMatchObject({
      status: 'failed',
      error: { outcome, phase: 'fault' },
      phaseResults: { before: 'kept' },
    });
    expect(job.error?.message).toContain(text);
    if (outcome === 'bad_result') expect(job.error?.message).toContain('Phase "fault" of pipeline "faults"');
  });

  test('a heap past memoryMb is out_of_memory', async () => {
    expect((await endOf('hungry', { memoryMb: 32 })).error).toMatchObject({ outcome: 'out_of_memory' });
  });

  test('buffers past memoryMb are out_of_memory, where the handler looks up now and then', async () => {
    const { error } = await endOf('buffers', { memoryMb: 64 });
    expect(error).toMatchObject({ outcome: 'out_of_memory', code: 'memory_budget' });
  });

  test('time past timeoutMs is timeout, if the handler stops when asked', async () => {
    const loops = pipeline('loops').phase('loop', { worker: at('loops.js'), export: 'byCheckpoint', timeoutMs: 50 });
    const queue = openQueue({ pipelines: [loops], threads: { count: 1 } });
    const id = await queue.enqueue('loops', null, { maxAttempts: 1 });
    await expect(queue.result(id)).rejects.toThrow('ran past its timeoutMs of 50 ms');
    expect((await queue.getJob(id))?.error).toMatchObject({ outcome: 'timeout', code: 'timeout' });
  });

  test('and unresponsive, if its thread had to be ended', async () => {
    const loops = pipeline('loops').phase('loop', {
      worker: at('loops.js'),
      export: 'byForce',
      timeoutMs: 50,
      graceMs: 20,
    });
    const queue = openQueue({ pipelines: [loops], threads: { count: 1 } });
    const id = await queue.enqueue('loops', null, { maxAttempts: 1 });
    await expect(queue.result(id)).rejects.toThrow('ran past its timeoutMs of 50 ms');
    const job = await queue.getJob(id);
    expect(job?.error).toMatchObject({ outcome: 'unresponsive', code: 'timeout' });
    expect(job?.phases[0]?.usage).toMatchObject({ threadId: expect.any(Number), wallMs: expect.any(Number) });
  });

  test('a result after the time was up does not count', async () => {
    const loops = pipeline('loops').phase('loop', { worker: at('loops.js'), export: 'stubborn', timeoutMs: 50 });
    const queue = openQueue({ pipelines: [loops], threads: { count: 1 } });
    const id = await queue.enqueue('loops', null, { maxAttempts: 1 });
    await expect(queue.result(id)).rejects.toThrow('ran past its timeoutMs');
  });

  test('CPU past cpuMs is timeout', async () => {
    const spin = pipeline('spin').phase('run', { worker: at('loops.js'), export: 'byCheckpoint', cpuMs: 60 });
    const queue = openQueue({ pipelines: [spin], threads: { count: 1 } });
    const id = await queue.enqueue('spin', null, { maxAttempts: 1 });
    await expect(queue.result(id)).rejects.toThrow('more than its cpuMs of 60');
    expect((await queue.getJob(id))?.error).toMatchObject({ outcome: 'timeout', code: 'cpu_budget' });
  });

  test('waiting costs no CPU: a phase that sleeps past its cpuMs is fine', async () => {
    const spin = pipeline('spin').phase('run', { worker: at('spin.js'), export: 'sleepy', cpuMs: 60 });
    const queue = openQueue({ pipelines: [spin], threads: { count: 1 } });
    expect(await queue.result(await queue.enqueue('spin', { ms: 200 }))).toBe('rested');
  });
});

describe('what is done about it', () => {
  test.each([
    ['crashed', 'exit', {}],
    ['out_of_memory', 'hungry', { memoryMb: 32 }],
  ])('%s is tried again while attempts are left', async (_, name, limits) => {
    expect(await endOf(name, { ...limits, maxAttempts: 2 })).toMatchObject({ status: 'failed', attempt: 2 });
  });

  test.each([
    ['bad_result', 'aDate'],
    ['threw', 'rich'],
  ])('%s is fatal', async (_, name) => {
    expect(await endOf(name, { maxAttempts: 3 })).toMatchObject({ status: 'failed', attempt: 1 });
  });

  test('classify overrides the default of an outcome', async () => {
    const faults = pipeline('faults')
      .phase('fault', { worker: at('faults.js'), export: 'exit' })
      .options({ retry: { maxAttempts: 5, classify: ({ outcome }) => (outcome === 'crashed' ? 'fatal' : undefined) } });
    const queue = openQueue({ pipelines: [faults], threads: { count: 1 } });
    const id = await queue.enqueue('faults', null);
    await expect(queue.result(id)).rejects.toThrow('exited with code');
    expect((await queue.getJob(id))?.attempt).toBe(1);
  });

  test('errors that say it themselves are heard: RecoverableError and RetryAfter', async () => {
    expect(await endOf('recoverable', { maxAttempts: 3 })).toMatchObject({ status: 'completed', attempt: 3 });
    const later = pipeline('later').phase('fault', { worker: at('faults.js'), export: 'retryAfter' });
    const queue = openQueue({ pipelines: [later], threads: { count: 1 } });
    const retrying = nextEvent(queue, 'job:retrying');
    await queue.enqueue('later', null);
    const { job, at: when } = await retrying;
    expect(job.scheduledAt - when).toBe(7_000);
  });

  test('killing one phase keeps the rest: the next attempt starts at the killed phase', async () => {
    const runs: string[] = [];
    const three = pipeline('three')
      .phase('first', () => runs.push('first'))
      .phase('second', { worker: at('killed-once.js'), timeoutMs: 100, graceMs: 10 })
      .phase('third', (_job, ctx) => ctx.phaseResults())
      .options({ retry: { backoff: { type: 'fixed', baseMs: 0 }, disposition: 'fatal' } });
    const queue = openQueue({ pipelines: [three], threads: { count: 1 } });
    const result = await queue.result(await queue.enqueue('three', null));
    expect(result).toEqual({ first: 1, second: 'attempt 2' });
    expect(runs).toEqual(['first']);
  });
});

test('what a handler leaves behind is reported and costs at most its thread', async () => {
  const faults = pipeline('faults').phase('fault', { worker: at('faults.js'), export: 'afterwards' });
  const queue = openQueue({ pipelines: [faults], threads: { count: 1 } });
  const reported = nextEvent(queue, 'error');
  expect(await queue.result(await queue.enqueue('faults', null))).toBe('done');
  expect(await reported).toMatchObject({ during: 'a thread of pool "default"' });
  expect(await queue.result(await queue.enqueue('faults', null))).toBe('done');
});

test('data that a schema has made into something no thread can be given fails the job and says so', async () => {
  const odd = { '~standard': { version: 1, vendor: 'test', validate: () => ({ value: { run() {} } }) } } as const;
  const flow = pipeline('flow')
    .input(odd as never)
    .phase('run', { worker: at('echo.js') });
  const queue = openQueue({ pipelines: [flow], threads: { count: 1 } });
  const id = await queue.enqueue('flow', null as never);
  await expect(queue.result(id)).rejects.toThrow('could not be cloned');
  expect((await queue.getJob(id))?.error).toMatchObject({ outcome: 'threw' });
});
