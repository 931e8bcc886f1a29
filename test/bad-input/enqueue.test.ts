import type { StandardSchemaV1 } from '@standard-schema/spec';
import { ConflictError, type EnqueueOptions, type JobQueue, pipeline } from 'millrace';
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { errorOf, expectInvalid, expectNothingStored, notCounts } from './refusals.ts';

const work = pipeline('work').phase('only', () => null);

/** A queue that only takes jobs, so that what was stored stays as it was. */
function producer() {
  return openQueue({ database: ':memory:', pipelines: [work], claim: false, maxPayloadBytes: 1_000 });
}

async function expectRefused(queue: JobQueue, call: Promise<unknown>, field: string): Promise<void> {
  await expectInvalid(call, field);
  await expectNothingStored(queue);
}

describe('a pipeline that the queue does not have', () => {
  test.each([
    ['a misspelt name', 'wrok'],
    ['an empty name', ''],
    ['constructor', 'constructor'],
    ['undefined', undefined],
    ['a number', 5],
    ['a symbol', Symbol('work')],
    ['the pipeline itself', work],
  ])('%s is refused', async (_, name) => {
    const queue = producer();
    await expectRefused(queue, queue.enqueue(name as 'work', null), 'pipeline');
  });

  test('is refused with the names there are', async () => {
    const error = await errorOf(producer().enqueue('wrok' as 'work', null));
    expect(error).toHaveProperty('message', expect.stringMatching(/"wrok".*it has: work/));
  });
});

describe('data that JSON cannot hold', () => {
  const cyclic: Record<string, unknown> = { inner: {} };
  (cyclic.inner as Record<string, unknown>).outer = cyclic;
  const loop: unknown[] = [];
  loop.push([loop]);
  class Point {
    x = 1;
  }
  const sparse = [1, 2, 3];
  delete sparse[1];
  let deep: unknown = 1;
  for (let i = 0; i < 20_000; i++) deep = [deep];

  test.each<[string, string, unknown]>([
    ['a BigInt', 'data', 5n],
    ['a BigInt in a list in an object', 'data.list[1]', { list: [1, 2n] }],
    ['a Date', 'data.at', { at: new Date() }],
    ['an invalid Date', 'data', new Date(Number.NaN)],
    ['NaN', 'data.n', { n: Number.NaN }],
    ['Infinity', 'data', Number.POSITIVE_INFINITY],
    ['-Infinity', 'data[0]', [Number.NEGATIVE_INFINITY]],
    ['undefined in an array', 'data[1]', [1, undefined]],
    ['a hole in an array', 'data[1]', sparse],
    ['a function', 'data.run', { run: () => 1 }],
    ['a symbol', 'data', Symbol('x')],
    ['a Map', 'data', new Map()],
    ['a Set', 'data.tags', { tags: new Set() }],
    ['a Buffer', 'data', Buffer.from('x')],
    ['a typed array', 'data', new Uint8Array(2)],
    ['a RegExp', 'data', /x/],
    ['an Error', 'data.error', { error: new Error('x') }],
    ['a Promise', 'data', Promise.resolve(1)],
    ['a class instance', 'data.point', { point: new Point() }],
    ['an object with toJSON', 'data', { toJSON: () => 1 }],
    ['an array with toJSON', 'data', Object.assign([1], { toJSON: () => undefined })],
    ['a boxed string', 'data', Object('x')],
    ['a cycle of objects', 'data.inner.outer', cyclic],
    ['a cycle of arrays', 'data[0][0]', loop],
  ])('%s is refused at %s', async (_, field, data) => {
    const queue = producer();
    await expectRefused(queue, queue.enqueue('work', data), field);
  });

  test('nesting deeper than the stack is refused', async () => {
    const queue = producer();
    const error = await errorOf(queue.enqueue('work', deep));
    expect(error).toMatchObject({ code: 'invalid_input', field: expect.stringMatching(/^data/) });
    await expectNothingStored(queue);
  });

  test('a Proxy of a plain object is stored as that object, or refused by name', async () => {
    const queue = producer();
    const outcome = await queue.enqueue('work', new Proxy({ a: 1 }, {})).then(
      async (id) => (await queue.getJob(id))?.data,
      (error: unknown) => error,
    );
    if (outcome instanceof Error) expect(outcome).toMatchObject({ code: 'invalid_input', field: 'data' });
    else expect(outcome).toEqual({ a: 1 });
  });
});

describe('data and its size', () => {
  test('more than maxPayloadBytes is refused with both numbers', async () => {
    const queue = producer();
    const call = queue.enqueue('work', 'x'.repeat(999));
    await expectRefused(queue, call, 'data');
    expect(await errorOf(call)).toHaveProperty(
      'message',
      expect.stringMatching(/1001 bytes.*maxPayloadBytes \(1000\)/),
    );
  });

  test('characters of more than one byte count by their bytes', async () => {
    const queue = producer();
    await expectRefused(queue, queue.enqueue('work', '€'.repeat(333)), 'data');
  });

  test('exactly maxPayloadBytes is taken', async () => {
    const queue = producer();
    const id = await queue.enqueue('work', 'x'.repeat(998));
    expect((await queue.getJob(id))?.data).toBe('x'.repeat(998));
  });
});

describe('data that is taken', () => {
  const shared = { a: 1 };
  test.each<[string, unknown, unknown]>([
    ['an undefined property is left out', { a: 1, b: undefined, c: { d: undefined } }, { a: 1, c: {} }],
    ['undefined is stored as null', undefined, null],
    ['null stays null', null, null],
    ['an empty string stays one', '', ''],
    ['false stays false', false, false],
    ['the same object in two places is stored twice', [shared, shared], [{ a: 1 }, { a: 1 }]],
    ['an object without a prototype becomes a plain one', Object.assign(Object.create(null), { a: 1 }), { a: 1 }],
    ['a lone surrogate survives', '\ud800', '\ud800'],
    ['a NUL survives', 'a\0b', 'a\0b'],
  ])('%s', async (_, given, stored) => {
    const queue = producer();
    const born = nextEvent(queue, 'job:enqueued');
    const id = await queue.enqueue('work', given);
    expect((await queue.getJob(id))?.data).toStrictEqual(stored);
    expect((await born).job.data).toStrictEqual(stored);
  });

  test('an own key "__proto__" stays a key', async () => {
    const queue = producer();
    const id = await queue.enqueue('work', JSON.parse('{"__proto__":{"admin":true}}'));
    const data = (await queue.getJob(id))?.data as Record<string, unknown>;
    expect(Object.keys(data)).toEqual(['__proto__']);
    expect(data.admin).toBeUndefined();
  });

  test('changes after the call do not reach the job', async () => {
    const queue = producer();
    const data = { n: 1 };
    const call = queue.enqueue('work', data);
    data.n = 2;
    expect((await queue.getJob(await call))?.data).toEqual({ n: 1 });
  });

  test('changes after the call do not reach a job whose data is checked by a schema', async () => {
    const checked = pipeline('checked')
      .input(z.object({ n: z.number() }))
      .phase('only', () => null);
    const queue = openQueue({ database: ':memory:', pipelines: [checked], claim: false });
    const data = { n: 1 };
    const call = queue.enqueue('checked', data);
    data.n = 2;
    expect((await queue.getJob(await call))?.data).toEqual({ n: 1 });
  });
});

describe('options of a job', () => {
  const refused: readonly (readonly [field: string, shown: string, options: unknown])[] = [
    ['options', 'null', null],
    ['options', 'a number', 5],
    ['options', 'an array', []],
    ['options.priorty', 'misspelt', { priorty: 5 }],
    ['options.delay', 'unknown', { delay: 5 }],
    ['options.id', 'empty', { id: '' }],
    ['options.id', '201 characters', { id: 'x'.repeat(201) }],
    ['options.id', 'a number', { id: 5 }],
    ['options.id', 'null', { id: null }],
    ['options.id', 'a lone surrogate, which the database would replace', { id: 'x\ud800' }],
    ['options.delayMs', 'beside scheduledAt', { delayMs: 5, scheduledAt: 5 }],
    ['options.delayMs', 'past the end of time', { delayMs: Number.MAX_SAFE_INTEGER }],
    ...['priority', 'scheduledAt', 'expiresAt'].flatMap((key) =>
      ['soon', {}, null, true, Number.NaN, Number.POSITIVE_INFINITY, 5n].map(
        (value) => [`options.${key}`, `${value}`, { [key]: value }] as const,
      ),
    ),
    ...['scheduledAt', 'expiresAt'].flatMap((key) => [
      [`options.${key}`, 'an invalid Date', { [key]: new Date('no') }] as const,
      [`options.${key}`, 'past the end of time', { [key]: 8.64e15 + 1 }] as const,
    ]),
    ['options.priority', '1.5', { priority: 1.5 }],
    ['options.priority', '2 ** 53', { priority: 2 ** 53 }],
    ...notCounts(0).map(([shown, delayMs]) => ['options.delayMs', shown, { delayMs }] as const),
    ...notCounts(1).map(([shown, timeoutMs]) => ['options.timeoutMs', shown, { timeoutMs }] as const),
    ...notCounts(1).map(([shown, maxAttempts]) => ['options.maxAttempts', shown, { maxAttempts }] as const),
    ...[
      'example.com/hook',
      '/hook',
      'ftp://example.com/',
      'file:///etc/passwd',
      'javascript:alert(1)',
      'https://user@example.com/',
      'https://user:secret@example.com/',
      'http://',
      '',
      5,
      null,
      new URL('https://example.com'),
    ].map((webhookUrl) => ['options.webhookUrl', `${webhookUrl}`, { webhookUrl }] as const),
  ];

  test.each(refused)('%s, %s, is refused', async (field, _, options) => {
    const queue = producer();
    await expectRefused(queue, queue.enqueue('work', null, options as EnqueueOptions), field);
  });

  test('a refused webhookUrl is not repeated in the message, for it may hold a password', async () => {
    const error = await errorOf(producer().enqueue('work', null, { webhookUrl: 'https://me:secret@example.com/' }));
    expect(String(error)).not.toContain('secret');
  });

  test('an option given as undefined counts as left out', async () => {
    const queue = producer();
    const undefineds = { id: undefined, priority: undefined, delayMs: undefined, scheduledAt: undefined };
    const id = await queue.enqueue('work', null, { ...undefineds, expiresAt: undefined } as unknown as EnqueueOptions);
    expect(await queue.getJob(id)).toMatchObject({ priority: 0, expiresAt: null, timeoutMs: null });
  });
});

describe('an id that is taken', () => {
  test('is refused, and the job that has it stays as it is', async () => {
    const queue = producer();
    await queue.enqueue('work', 'first', { id: 'mine' });
    const error = await errorOf(queue.enqueue('work', 'second', { id: 'mine' }));
    expect(error).toBeInstanceOf(ConflictError);
    expect(error).toMatchObject({ code: 'conflict', jobId: 'mine', message: expect.stringContaining('"mine"') });
    expect((await queue.getJob('mine'))?.data).toBe('first');
    expect((await queue.stats()).jobs).toEqual({ pending: 1 });
  });

  test('goes to one of two calls at the same time', async () => {
    const queue = producer();
    const calls = [1, 2].map((data) => queue.enqueue('work', data, { id: 'mine' }));
    const outcomes = await Promise.allSettled(calls);
    expect(outcomes.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    expect((outcomes[1] as PromiseRejectedResult).reason).toBeInstanceOf(ConflictError);
    expect((await queue.stats()).jobs).toEqual({ pending: 1 });
  });

  test('takes the whole of an enqueueMany with it', async () => {
    const queue = producer();
    await queue.enqueue('work', 'first', { id: 'mine' });
    const jobs = [
      { name: 'work', data: 1 },
      { name: 'work', data: 2, options: { id: 'mine' } },
      { name: 'work', data: 3 },
    ] as const;
    expect(await errorOf(queue.enqueueMany(jobs))).toBeInstanceOf(ConflictError);
    expect((await queue.stats()).jobs).toEqual({ pending: 1 });
  });

  test.each([
    'it’s “mine”',
    '"; DROP TABLE millrace_jobs; --',
    '../../etc',
    '__proto__',
    'constructor',
    ' ',
    '🦆',
    'a\0b',
  ])('may be any string: %j', async (id) => {
    const queue = producer();
    expect(await queue.enqueue('work', 'first', { id })).toBe(id);
    expect(await queue.getJob(id)).toMatchObject({ id, data: 'first' });
    expect(await errorOf(queue.enqueue('work', 'second', { id }))).toBeInstanceOf(ConflictError);
  });
});

describe('enqueueMany', () => {
  test('refuses an id that is given twice in one call', async () => {
    const queue = producer();
    const job = { name: 'work', data: null, options: { id: 'mine' } } as const;
    const call = queue.enqueueMany([job, job]);
    await expectRefused(queue, call, 'options.id');
    expect(await errorOf(call)).toHaveProperty('message', expect.stringContaining('"mine" is given twice'));
  });

  test.each<[string, string, unknown]>([
    ['an unknown pipeline', 'pipeline', { name: 'wrok', data: null }],
    ['bad data', 'data', { name: 'work', data: 5n }],
    ['a bad option', 'options.priority', { name: 'work', data: null, options: { priority: 1.5 } }],
    ['options that are null', 'options', { name: 'work', data: null, options: null }],
    ['a key that does not exist', 'jobs[1].dta', { name: 'work', dta: 1 }],
    ['null', 'jobs[1]', null],
    ['a name alone', 'jobs[1]', 'work'],
  ])('with %s in the middle of three stores none of them', async (_, field, wrong) => {
    const queue = producer();
    const good = { name: 'work', data: 1 };
    await expectRefused(queue, queue.enqueueMany([good, wrong, good] as never), field);
  });

  test.each([undefined, null, {}, 'work', 5])('refuses %j in place of a list', async (jobs) => {
    const queue = producer();
    await expectRefused(queue, queue.enqueueMany(jobs as never), 'jobs');
  });

  test('of nothing stores nothing', async () => {
    const queue = producer();
    expect(await queue.enqueueMany([])).toEqual([]);
    await expectNothingStored(queue);
  });
});

describe('data that does not fit the schema', () => {
  const person = z.object({ name: z.string().min(1), address: z.object({ zip: z.string() }) });
  const byZod = pipeline('by-zod')
    .input(person)
    .phase('only', () => null);

  /** Asks somebody far away whether the number is even. */
  const even: StandardSchemaV1<{ n: number }, { n: number; half: number }> = {
    '~standard': {
      version: 1,
      vendor: 'test',
      async validate(value) {
        await new Promise((resolve) => setTimeout(resolve, 5));
        const { n } = value as { n: number };
        return n % 2 === 0 ? { value: { n, half: n / 2 } } : { issues: [{ message: 'is odd', path: [{ key: 'n' }] }] };
      },
    },
  };
  const byHand = pipeline('by-hand')
    .input(even)
    .phase('only', ({ data }) => data.half);

  function open() {
    return openQueue({ database: ':memory:', pipelines: [byZod, byHand] });
  }

  test.each<[string, RegExp, unknown]>([
    ['a missing field', /by-zod.*address/, { name: 'Ada' }],
    ['a wrong inner field', /by-zod.*address\.zip/, { name: 'Ada', address: { zip: 5 } }],
    ['nothing at all', /by-zod/, undefined],
  ])('%s is refused by zod, with its path', async (_, message, data) => {
    const queue = open();
    const call = queue.enqueue('by-zod', data as z.input<typeof person>);
    await expectRefused(queue, call, 'data');
    expect(await errorOf(call)).toHaveProperty('message', expect.stringMatching(message));
  });

  test('every issue is told', async () => {
    const error = await errorOf(open().enqueue('by-zod', { name: '', address: { zip: 5 } } as never));
    expect(error).toHaveProperty('message', expect.stringMatching(/name: .*; address\.zip: /));
  });

  test('an asynchronous schema refuses too', async () => {
    const queue = open();
    const call = queue.enqueue('by-hand', { n: 3 });
    await expectRefused(queue, call, 'data');
    expect(await errorOf(call)).toHaveProperty('message', expect.stringContaining('n: is odd'));
  });

  test('an asynchronous schema hands its output to the handler; stored is what was given', async () => {
    const queue = open();
    const id = await queue.enqueue('by-hand', { n: 4 });
    expect(await queue.result(id)).toBe(2);
    expect((await queue.getJob(id))?.data).toEqual({ n: 4 });
  });

  test('one of three keeps all three out', async () => {
    const queue = open();
    const good = { name: 'by-hand', data: { n: 2 } } as const;
    await expectRefused(queue, queue.enqueueMany([good, { name: 'by-hand', data: { n: 3 } }, good]), 'data');
  });

  test('a schema that throws refuses with its own error', async () => {
    const broken: StandardSchemaV1 = {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate() {
          throw new TypeError('the schema is broken');
        },
      },
    };
    const pipelines = [
      pipeline('broken')
        .input(broken)
        .phase('only', () => null),
    ] as const;
    const queue = openQueue({ database: ':memory:', pipelines });
    expect(await errorOf(queue.enqueue('broken', null))).toHaveProperty('message', 'the schema is broken');
    await expectNothingStored(queue);
  });
});
