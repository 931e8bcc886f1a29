import { type JobQueue, type ListOptions, NotFoundError, pipeline, type ShutdownOptions } from 'millrace';
import { describe, expect, test } from 'vitest';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { errorOf, expectInvalid, expectNothingStored, notCounts } from './refusals.ts';

const work = pipeline('work').phase('only', () => null);

function producer() {
  return openQueue({ database: ':memory:', pipelines: [work], claim: false, maxPayloadBytes: 1_000 });
}

const VERBS: readonly (readonly [verb: string, call: (queue: JobQueue, id: string) => Promise<unknown>])[] = [
  ['cancel', (queue, id) => queue.cancel(id)],
  ['retry', (queue, id) => queue.retry(id)],
  ['pause', (queue, id) => queue.pause(id)],
  ['resume', (queue, id) => queue.resume(id)],
  ['complete', (queue, id) => queue.complete(id)],
  ['transitions', (queue, id) => queue.transitions(id)],
  ['result', (queue, id) => queue.result(id)],
];

describe('an id that does not exist', () => {
  test.each(VERBS)('is not found by %s', async (_, call) => {
    const queue = producer();
    const error = await errorOf(call(queue, 'nobody'));
    expect(error).toBeInstanceOf(NotFoundError);
    expect(error).toMatchObject({ code: 'not_found', jobId: 'nobody', message: expect.stringContaining('"nobody"') });
    await expectNothingStored(queue);
  });

  test('is undefined for getJob', async () => {
    expect(await producer().getJob('nobody')).toBeUndefined();
  });
});

describe('an id that cannot be one', () => {
  const ids: readonly (readonly [shown: string, id: unknown])[] = [
    ['an empty string', ''],
    ['undefined', undefined],
    ['null', null],
    ['a number', 5],
    ['an object', { id: 'x' }],
  ];
  const calls = [...VERBS, ['getJob', (queue: JobQueue, id: string) => queue.getJob(id)] as const];
  const cases = calls.flatMap(([verb, call]) => ids.map(([shown, id]) => [shown, verb, id, call] as const));
  test.each(cases)('%s is refused by %s', async (_, _verb, id, call) => {
    await expectInvalid(call(producer(), id as string), 'id');
  });
});

describe('a result given from outside', () => {
  test.each<[string, string, unknown]>([
    ['a BigInt', 'result', 5n],
    ['a Date', 'result.at', { at: new Date() }],
    ['too long', 'result', 'x'.repeat(1_000)],
  ])('%s is refused, and the job stays as it is', async (_, field, result) => {
    const queue = producer();
    const id = await queue.enqueue('work', null);
    await expectInvalid(queue.complete(id, result), field);
    expect(await queue.getJob(id)).toMatchObject({ status: 'pending', seq: 0, phaseResults: {} });
  });

  test('is named once in the message', async () => {
    const error = await errorOf(producer().complete('nobody', 5n));
    expect(error).toHaveProperty('message', expect.not.stringContaining('result: result'));
  });

  test('is kept as it was given, whatever becomes of the object', async () => {
    const queue = producer();
    const id = await queue.enqueue('work', null);
    const result: { n: unknown } = { n: 1 };
    const call = queue.complete(id, result);
    const neighbour = queue.enqueue('work', null);
    result.n = 2n;
    await neighbour;
    expect((await call).phaseResults).toEqual({ only: { n: 1 } });
    expect((await queue.getJob(id))?.phaseResults).toEqual({ only: { n: 1 } });
  });
});

describe('a reason that is no string', () => {
  const reasons: readonly (readonly [shown: string, reason: unknown])[] = [
    ['a number', 5],
    ['an object', { why: 'because' }],
    ['an Error', new Error('because')],
    ['true', true],
  ];
  test.each(reasons)('%s is refused by cancel and pause', async (_, reason) => {
    const queue = producer();
    const id = await queue.enqueue('work', null);
    await expectInvalid(queue.cancel(id, reason as string), 'reason');
    await expectInvalid(queue.pause(id, reason as string), 'reason');
    expect(await queue.getJob(id)).toMatchObject({ status: 'pending', seq: 0, reason: null });
  });

  test('does not take a call made at the same time with it', async () => {
    const queue = producer();
    const id = await queue.enqueue('work', null);
    const [, neighbour] = await Promise.allSettled([queue.cancel(id, {} as string), queue.enqueue('work', null)]);
    expect(neighbour).toMatchObject({ status: 'fulfilled' });
  });
});

describe('listJobs', () => {
  const refused: readonly (readonly [field: string, shown: string, options: unknown])[] = [
    ['options', 'null', null],
    ['options', 'a number', 5],
    ['options.state', 'unknown', { state: 'active' }],
    ...notCounts(1).map(([shown, limit]) => ['options.limit', shown, { limit }] as const),
    ['options.limit', '1001', { limit: 1_001 }],
    ...['', 'x', '-1', '1.5', '1 OR 1', '1'.repeat(16), {}, true].map(
      (cursor) => ['options.cursor', `${cursor}`, { cursor }] as const,
    ),
    ...['done', '', 5, null, {}, ['pending', 'done'], [['pending']], [null]].map(
      (status) => ['options.status', JSON.stringify(status), { status }] as const,
    ),
    ...[5, null, {}, ['work', 5]].map(
      (name) => ['options.pipeline', JSON.stringify(name), { pipeline: name }] as const,
    ),
    ...notCounts(0).flatMap(([shown, value]) => [
      ['options.createdAfter', shown, { createdAfter: value }] as const,
      ['options.createdBefore', shown, { createdBefore: value }] as const,
    ]),
  ];

  test.each(refused)('refuses %s, %s', async (field, _, options) => {
    await expectInvalid(producer().listJobs(options as ListOptions), field);
  });

  test('takes times as Dates too, and calls an invalid one by its name', async () => {
    const queue = producer();
    await queue.enqueue('work', null);
    const { jobs } = await queue.listJobs({ createdAfter: new Date(0), createdBefore: new Date(Date.now() + 60_000) });
    expect(jobs).toHaveLength(1);
    const error = await errorOf(queue.listJobs({ createdAfter: new Date('no') }));
    expect(error).toHaveProperty('message', expect.stringContaining('an invalid Date'));
  });

  test.each<[string, ListOptions]>([
    ['a limit of 1', { limit: 1 }],
    ['a limit of 1000', { limit: 1_000 }],
    ['a cursor of null', { cursor: null }],
    ['no status at all', { status: [] }],
    ['a pipeline that does not exist', { pipeline: 'nowhere' }],
  ])('takes %s', async (_, options) => {
    expect(await producer().listJobs(options)).toEqual({ jobs: [], cursor: null });
  });
});

describe('shutdown', () => {
  const refused: readonly (readonly [field: string, shown: string, options: unknown])[] = [
    ['options', 'null', null],
    ['options.timeout', 'unknown', { timeout: 5 }],
    ['options.timeoutMs', '-1', { timeoutMs: -1 }],
    ['options.timeoutMs', 'NaN', { timeoutMs: Number.NaN }],
    ['options.graceMs', '1.5', { graceMs: 1.5 }],
    ['options.graceMs', '"5"', { graceMs: '5' }],
  ];
  test.each(refused)('refuses %s, %s, and leaves the queue open', async (field, _, options) => {
    const queue = producer();
    await expectInvalid(() => queue.shutdown(options as ShutdownOptions), field);
    await expectNothingStored(queue);
  });

  test('with a limit longer than any timer does not stop jobs at once', async () => {
    const slow = pipeline('slow').phase('only', (_job, { signal }) => {
      return new Promise<string>((resolve) => {
        signal.addEventListener('abort', () => resolve('stopped'));
        setTimeout(resolve, 200, 'finished');
      });
    });
    const queue = openQueue({ database: ':memory:', pipelines: [slow] });
    const started = nextEvent(queue, 'job:started');
    const id = await queue.enqueue('slow', null);
    const result = queue.result(id);
    await started;
    await Promise.all([queue.shutdown({ timeoutMs: 2 ** 31 }), expect(result).resolves.toBe('finished')]);
  });
});
