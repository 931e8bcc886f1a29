import { describe, expect, test } from 'vitest';
import { toFailure } from '../../../src/actors/failure.ts';
import type { Failure } from '../../../src/actors/vocabulary.ts';

const broken = (): never => {
  throw new Error('the getter is broken');
};
const withGetter = (key: string) => Object.defineProperty(new Error('x'), key, { get: broken, enumerable: true });

/** Whatever it is, it can be stored and comes back unchanged. */
function expectStorable(failure: Failure): void {
  expect(JSON.parse(JSON.stringify(failure))).toEqual(failure);
}

describe('an error', () => {
  test('of any size is stored in bounds', () => {
    const huge = Object.assign(new Error('m'.repeat(1_000_000)), { small: 1, big: 'x'.repeat(1_000_000) });
    huge.name = 'n'.repeat(1_000_000);
    const failure = toFailure(huge);
    expect(failure.data).toEqual({ small: 1 });
    expect(JSON.stringify(failure).length).toBeLessThan(20_000);
  });

  test('keeps its name, message, code and stack', () => {
    const error = Object.assign(new TypeError('wrong'), { code: 'E_WRONG' });
    expect(toFailure(error)).toEqual({ name: 'TypeError', message: 'wrong', code: 'E_WRONG', stack: error.stack });
  });

  test('has a numeric code as a string, and no code of another kind', () => {
    expect(toFailure(Object.assign(new Error('x'), { code: 404 })).code).toBe('404');
    expect(toFailure(Object.assign(new Error('x'), { code: {} }))).not.toHaveProperty('code');
  });

  test('keeps its own fields as data', () => {
    const failure = toFailure(Object.assign(new Error('x'), { status: 503, headers: { retry: ['1'] }, code: 'E' }));
    expect(failure.data).toEqual({ status: 503, headers: { retry: ['1'] } });
    expectStorable(failure);
  });

  test('has no data without fields of its own', () => {
    expect(toFailure(new Error('x'))).not.toHaveProperty('data');
    expect(toFailure(Object.assign(new Error('x'), { run() {}, nothing: undefined }))).not.toHaveProperty('data');
  });

  test('leaves fields that JSON cannot hold out', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic.self = cyclic;
    expect(toFailure(Object.assign(new Error('x'), { n: 5n }))).toMatchObject({ name: 'Error', message: 'x' });
    expect(toFailure(Object.assign(new Error('x'), { cyclic }))).toMatchObject({ name: 'Error', message: 'x' });
  });

  test('keeps good fields beside one that JSON cannot hold', () => {
    expect(toFailure(Object.assign(new Error('x'), { n: 5n, status: 503 })).data).toEqual({ status: 503 });
  });

  test('has a stack of limited length', () => {
    const error = new Error('x');
    error.stack = 'x'.repeat(100_000);
    expect(toFailure(error).stack?.length).toBeLessThan(10_000);
  });
});

describe('causes', () => {
  test('are kept, whatever they are', () => {
    const failure = toFailure(new Error('outer', { cause: new RangeError('inner', { cause: 'a string' }) }));
    expect(failure.cause).toMatchObject({ name: 'RangeError', message: 'inner' });
    expect(failure.cause?.cause).toMatchObject({ name: 'NonError', message: expect.stringContaining('a string') });
  });

  test('that are null are kept, and missing ones are not made up', () => {
    expect(toFailure(new Error('x', { cause: null })).cause?.message).toContain('null');
    expect(toFailure(new Error('x'))).not.toHaveProperty('cause');
  });

  test('end somewhere, even if they go round', () => {
    const error = new Error('round');
    error.cause = error;
    let depth = 0;
    for (let at: Failure | undefined = toFailure(error); at; at = at.cause) depth++;
    expect(depth).toBeGreaterThan(1);
    expect(depth).toBeLessThan(20);
  });
});

describe('something that is no error', () => {
  test.each<[unknown, string]>([
    ['boom', 'string: boom'],
    [undefined, 'undefined: undefined'],
    [null, 'null'],
    [5, 'number: 5'],
    [5n, 'bigint: 5'],
    [Symbol('s'), 'symbol: Symbol(s)'],
    [{ status: 503 }, 'object: {"status":503}'],
    [[1, 2], 'object: [1,2]'],
  ])('%o is shown in the message', (thrown, text) => {
    const failure = toFailure(thrown);
    expect(failure.name).toBe('NonError');
    expect(failure.message).toContain(text);
    expectStorable(failure);
  });

  test('is shown by its kind if it cannot be shown otherwise', () => {
    const cyclic: unknown[] = [];
    cyclic.push(cyclic);
    expect(toFailure(cyclic).message).toContain('[object Array]');
  });
});

describe('toFailure never throws', () => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  const tagless = Object.defineProperty({ toJSON: broken }, Symbol.toStringTag, { get: broken });

  test.each<[string, unknown]>([
    ['an object without a prototype', Object.create(null)],
    ['an object whose getter throws', Object.defineProperty({}, 'x', { get: broken, enumerable: true })],
    ['an object whose toJSON throws', { toJSON: broken }],
    ['an object whose tag throws', tagless],
    ['a function whose toString throws', Object.assign(() => {}, { toString: broken })],
    ['an error whose name throws', withGetter('name')],
    ['an error whose message throws', withGetter('message')],
    ['an error whose stack throws', withGetter('stack')],
    ['an error whose code throws', withGetter('code')],
    ['an error whose cause throws', withGetter('cause')],
    ['an error whose own field throws', withGetter('status')],
    ['an error whose name cannot be shown', Object.assign(new Error('x'), { name: Object.create(null) })],
    ['an error whose message is a symbol', Object.assign(new Error(), { message: Symbol('s') })],
    ['an error whose cause cannot be shown', new Error('x', { cause: tagless })],
    ['a revoked proxy', proxy],
  ])('for %s', (_, thrown) => {
    const failure = toFailure(thrown);
    expect(failure).toMatchObject({ name: expect.any(String), message: expect.any(String) });
    expectStorable(failure);
  });
});
