import { type PipelineOptions, pipeline } from 'millrace';
import { describe, expect, test } from 'vitest';
import { errorOf, expectInvalid, notCounts } from './refusals.ts';

const NOT_NAMES: readonly (readonly [shown: string, name: unknown])[] = [
  ['an empty string', ''],
  ['a.b', 'a.b'],
  ['1x', '1x'],
  ['a b', 'a b'],
  ['_a', '_a'],
  ['a name with a newline at its end', 'a\n'],
  ['ä', 'ä'],
  ['#a', '#a'],
  ['a/b', 'a/b'],
  ['constructor', 'constructor'],
  ['toString', 'toString'],
  ['__proto__', '__proto__'],
  ['65 characters', 'a'.repeat(65)],
  ['undefined', undefined],
  ['null', null],
  ['a number', 5],
  ['a BigInt', 5n],
  ['a symbol', Symbol('a')],
  ['an object', {}],
];

const done = () => null;

describe('a name that cannot be a state key', () => {
  test.each(NOT_NAMES)('%s is refused for a pipeline', async (_, name) => {
    await expectInvalid(() => pipeline(name as string), 'pipeline');
  });

  test.each(NOT_NAMES)('%s is refused for a phase', async (_, name) => {
    await expectInvalid(() => pipeline('work').phase(name as string, done), 'pipeline "work".phase');
  });

  test.each(['a', 'A', 'a-b_c9', 'a'.repeat(64), 'active', 'pending', 'then'])(
    '%s is a name like any other',
    (name) => {
      expect(pipeline(name).phase(name, done).phases[0]?.name).toBe(name);
    },
  );
});

describe('a phase', () => {
  test('with the name of an earlier one is refused', async () => {
    await expectInvalid(() => pipeline('work').phase('a', done).phase('a', done), 'pipeline "work".phase');
    const error = await errorOf(() => pipeline('work').phase('twin', done).phase('twin', done));
    expect(error).toHaveProperty('message', expect.stringContaining('"twin" is declared twice'));
  });

  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a string', './handler.js'],
    ['an object', {}],
    ['a promise of a function', Promise.resolve(done)],
  ])('whose handler is %s is refused', async (_, handler) => {
    await expectInvalid(() => pipeline('work').phase('a', handler as never), 'pipeline "work".phase("a")');
  });

  test('with an unknown option is refused', async () => {
    const options = { timeout: 5 } as object;
    await expectInvalid(() => pipeline('work').phase('a', done, options), 'pipeline "work".phase("a").timeout');
  });

  test.each([null, 5, 'fast', []])('with %j in place of options is refused', async (options) => {
    await expectInvalid(() => pipeline('work').phase('a', done, options as never), 'pipeline "work".phase("a")');
  });

  test.each(notCounts(1))('with timeoutMs %s is refused', async (_, timeoutMs) => {
    const field = 'pipeline "work".phase("a").timeoutMs';
    await expectInvalid(() => pipeline('work').phase('a', done, { timeoutMs } as never), field);
  });
});

describe('an input that is no Standard Schema', () => {
  test.each([
    ['null', null],
    ['a string', 'string'],
    ['an object', {}],
    ['a function', () => true],
    ['a schema without validate', { '~standard': { version: 1, vendor: 'mine' } }],
  ])('%s is refused', async (_, schema) => {
    await expectInvalid(() => pipeline('work').input(schema as never), 'pipeline "work".input');
  });
});

describe('options of a pipeline', () => {
  const refused: readonly (readonly [field: string, shown: string, options: unknown])[] = [
    ['', 'null', null],
    ['', 'an array', []],
    ['.concurency', 'misspelt', { concurency: 5 }],
    ['.retry', 'a number', { retry: 5 }],
    ['.retry', 'null', { retry: null }],
    ['.retry.attempts', 'unknown', { retry: { attempts: 5 } }],
    ['.retry.classify', 'a string', { retry: { classify: 'fatal' } }],
    ['.retry.disposition', 'an unknown word', { retry: { disposition: 'maybe' } }],
    ['.retry.backoff', 'a number', { retry: { backoff: 500 } }],
    ['.retry.backoff.base', 'unknown', { retry: { backoff: { type: 'fixed', base: 5 } } }],
    ['.retry.backoff.type', 'missing', { retry: { backoff: { baseMs: 5 } } }],
    ['.retry.backoff.type', 'an unknown word', { retry: { backoff: { type: 'cubic', baseMs: 5 } } }],
    ['.retry.backoff.baseMs', 'missing', { retry: { backoff: { type: 'fixed' } } }],
    ...[1.5, -0.1, Number.NaN, Number.POSITIVE_INFINITY, '0.5', true, null].map(
      (jitter) =>
        [
          '.retry.backoff.jitter',
          String(jitter),
          { retry: { backoff: { type: 'fixed', baseMs: 5, jitter } } },
        ] as const,
    ),
    ...notCounts(1).flatMap(([shown, value]) => [
      ['.concurrency', shown, { concurrency: value }] as const,
      ['.timeoutMs', shown, { timeoutMs: value }] as const,
      ['.retry.maxAttempts', shown, { retry: { maxAttempts: value } }] as const,
    ]),
    ...notCounts(0).flatMap(([shown, value]) => [
      ['.retry.backoff.baseMs', shown, { retry: { backoff: { type: 'fixed', baseMs: value } } }] as const,
      ['.retry.backoff.maxMs', shown, { retry: { backoff: { type: 'fixed', baseMs: 5, maxMs: value } } }] as const,
    ]),
  ];

  test.each(refused)('options%s, %s, is refused', async (field, _, options) => {
    await expectInvalid(() => pipeline('work').options(options as PipelineOptions), `pipeline "work".options${field}`);
  });

  test('that were refused leave the pipeline as it was', async () => {
    const work = pipeline('work').options({ concurrency: 2 });
    await errorOf(() => work.options({ concurrency: 0 }));
    expect(work.settings).toEqual({ concurrency: 2 });
  });
});
