import { type JobRecord, type PhaseContext, pipeline, RetryAfter } from 'millrace';
import { describe, expect, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';

type Handler = (job: JobRecord, ctx: PhaseContext) => unknown;

/** Runs one job through one phase, `shaky`, and answers with its record once it is at rest. */
async function runOnce(handler: Handler, maxAttempts = 1): Promise<JobRecord> {
  const flow = pipeline('flow')
    .phase('first', () => 1)
    .phase('shaky', handler as never)
    .options({ retry: { maxAttempts, disposition: 'fatal' } });
  const queue = openQueue({ database: ':memory:', pipelines: [flow], maxPayloadBytes: 1_000 });
  const atRest = new Promise<JobRecord>((resolve, reject) => {
    for (const name of ['job:completed', 'job:failed', 'job:retrying'] as const) {
      queue.on(name, ({ job }) => resolve(job as JobRecord));
    }
    setTimeout(() => reject(new Error('The job is still active after two seconds.')), 2_000).unref();
  });
  await queue.enqueue('flow', null);
  return atRest;
}

describe('a result that cannot be stored fails the job', () => {
  const cyclic: Record<string, unknown> = {};
  cyclic.self = cyclic;
  let deep: unknown = 1;
  for (let i = 0; i < 20_000; i++) deep = [deep];

  test.each<[string, string, unknown]>([
    ['a BigInt', 'BigInt', 5n],
    ['a BigInt within', 'result.list[0]', { list: [5n] }],
    ['a cycle', 'result.self', cyclic],
    ['too large', 'maxPayloadBytes', 'x'.repeat(1_000)],
    ['a Date', 'Date', new Date()],
    ['NaN', 'NaN', Number.NaN],
    ['a function', 'function', () => 1],
    ['a Map', 'Map', new Map()],
    ['nested deeper than the stack', 'shaky', deep],
  ])('%s', async (_, problem, result) => {
    const job = await runOnce(() => result, 3);
    expect(job).toMatchObject({
      status: 'failed',
      attempt: 1,
      phaseResults: { first: 1 },
      error: { code: 'bad_result', phase: 'shaky', message: expect.stringContaining('"shaky"') },
    });
    expect(job.error?.message).toContain(problem);
  });

  test('undefined is no result, and no failure', async () => {
    expect(await runOnce(() => undefined)).toMatchObject({ status: 'completed', phaseResults: { first: 1 } });
  });

  test('an object the handler goes on changing is stored as it was returned', async () => {
    const result: { n: unknown } = { n: 1 };
    const job = await runOnce(() => {
      // Many microtasks later: after the runtime has looked at the result, before it has stored it.
      let left = 50;
      const spoil = () => (left-- > 0 ? queueMicrotask(spoil) : Object.assign(result, { n: 2n }));
      queueMicrotask(spoil);
      return result;
    });
    expect(job).toMatchObject({ status: 'completed', phaseResults: { shaky: { n: 1 } } });
  });
});

describe('a wrong call of the context fails the job', () => {
  test.each<[string, string, Handler]>([
    ['phaseResult of an unknown phase', 'phaseResult', (_job, ctx) => ctx.phaseResult('frist')],
    ['phaseResult of "constructor"', 'phaseResult', (_job, ctx) => ctx.phaseResult('constructor')],
    ['progress of 101', 'progress', (_job, ctx) => ctx.progress(101)],
    ['progress of -1', 'progress', (_job, ctx) => ctx.progress(-1)],
    ['progress of NaN', 'progress', (_job, ctx) => ctx.progress(Number.NaN)],
    ['progress of "50"', 'progress', (_job, ctx) => ctx.progress('50' as never)],
    ['progress of nothing', 'progress', (_job, ctx) => ctx.progress(undefined as never)],
    ['progress with a message that is no string', 'progress message', (_job, ctx) => ctx.progress(5, {} as never)],
    ['progress with a message too long', 'progress message', (_job, ctx) => ctx.progress(5, 'x'.repeat(1_000))],
  ])('%s', async (_, field, handler) => {
    const { status, error } = await runOnce(handler);
    expect(status).toBe('failed');
    expect(error).toMatchObject({ name: 'InvalidInputError', code: 'invalid_input', phase: 'shaky', data: { field } });
    expect(error?.message).toContain(field);
  });

  test('phaseResult of an unknown phase tells which there are', async () => {
    const { error } = await runOnce((_job, ctx) => ctx.phaseResult('frist'));
    expect(error?.message).toContain('it has first, shaky');
  });

  test('a refused progress leaves the last good one', async () => {
    const job = await runOnce((_job, ctx) => {
      ctx.progress(40, 'fine');
      ctx.progress(400);
    });
    expect(job.phases[1]).toMatchObject({ progress: 40, message: 'fine', status: 'failed' });
  });
});

describe('whatever a handler throws ends the attempt', () => {
  const broken = () => {
    throw new Error('the getter is broken');
  };

  test.each<[string, unknown]>([
    ['undefined', undefined],
    ['null', null],
    ['a string', 'boom'],
    ['a BigInt', 5n],
    ['a symbol', Symbol('boom')],
    ['a function', () => 1],
    ['an object without a prototype', Object.create(null)],
    ['an object that cannot be shown', { toJSON: broken, toString: broken }],
    [
      'an object whose tag throws',
      {
        toJSON: broken,
        get [Symbol.toStringTag]() {
          return broken();
        },
      },
    ],
    ['an error with a BigInt of its own', Object.assign(new Error('boom'), { n: 5n })],
    ['an error whose message throws', Object.defineProperty(new Error(), 'message', { get: broken })],
    ['an error whose code throws', Object.defineProperty(new Error('boom'), 'code', { get: broken })],
    ['an error whose own field throws', Object.defineProperty(new Error('b'), 'x', { get: broken, enumerable: true })],
    ['a revoked proxy', revoked()],
  ])('%s', async (_, thrown) => {
    const job = await runOnce(() => {
      throw thrown;
    });
    expect(job).toMatchObject({ status: 'failed', error: { phase: 'shaky', message: expect.any(String) } });
    expect(job.error?.message).not.toContain('classify');
  });

  test('an error that is its own cause', async () => {
    const error = new Error('round');
    error.cause = error;
    const job = await runOnce(() => {
      throw error;
    });
    expect(job.error?.cause?.cause?.message).toBe('round');
  });
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

describe('a wait that is no whole number of milliseconds', () => {
  const wish = (retryAfterMs: unknown) =>
    Object.assign(new Error('later'), { disposition: 'recoverable', retryAfterMs });

  test.each<[string, unknown]>([
    ['RetryAfter(0.5)', new RetryAfter(0.5)],
    ['RetryAfter(1e300)', new RetryAfter(1e300)],
    ['an error that wishes for NaN', wish(Number.NaN)],
    ['an error that wishes for Infinity', wish(Number.POSITIVE_INFINITY)],
    ['an error that wishes for -1e300', wish(-1e300)],
  ])('%s still has the job retried', async (_, thrown) => {
    const job = await runOnce(() => {
      throw thrown;
    }, 3);
    expect(job).toMatchObject({ status: 'retrying', attempt: 1 });
    expect(job.scheduledAt).toSatisfy(Number.isSafeInteger);
    expect(job.scheduledAt).toBeGreaterThanOrEqual(job.attemptAt ?? Number.NaN);
  });

  test.each([-1, Number.NaN, Number.POSITIVE_INFINITY, '5', undefined])('RetryAfter(%s) cannot be made', (ms) => {
    expect(() => new RetryAfter(ms as number)).toThrow(RangeError);
  });
});
