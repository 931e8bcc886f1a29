import { runInNewContext } from 'node:vm';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { NotJsonError, requireJson } from '../../../src/actors/json.ts';

const MIB = 1024 * 1024;

function problemOf(value: unknown, maxBytes = MIB): NotJsonError | null {
  try {
    requireJson(value, 'data', maxBytes);
    return null;
  } catch (error) {
    if (error instanceof NotJsonError) return error;
    throw error;
  }
}

/** JSON has one zero only; nobody will miss the other. Undefined properties do not matter to `toEqual`. */
function withoutMinusZero(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMinusZero);
  if (Object.prototype.toString.call(value) !== '[object Object]') return value === 0 ? 0 : value;
  return Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, withoutMinusZero(inner)]));
}

describe('requireJson', () => {
  test('takes whatever JSON can hold', () => {
    const jsonValue = fc.jsonValue({ noUnicodeString: false });
    fc.assert(fc.property(jsonValue, (value) => problemOf(value) === null));
  });

  test('takes nothing that JSON would turn into something else', () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withSet: true,
      withTypedArray: true,
    });
    fc.assert(
      fc.property(anything, (value) => {
        if (problemOf(value) === null) expect(JSON.parse(JSON.stringify(value))).toEqual(withoutMinusZero(value));
      }),
    );
  });

  test.each<[string, string, unknown]>([
    ['data.a.b[2].c', 'a BigInt', { a: { b: [0, 1, { c: 5n }] } }],
    ['data[0]', 'undefined', [undefined]],
    ['data', 'undefined', undefined],
    ['data.x', 'a Date', { x: new Date() }],
    ['data.x', 'a Map', { x: new Map() }],
    ['data.x', 'a function', { x() {} }],
    ['data.x', 'a symbol', { x: Symbol.iterator }],
    ['data.x', 'NaN', { x: Number.NaN }],
  ])('leads to %s for %s', (path, kind, value) => {
    expect(problemOf(value)).toMatchObject({ path, message: expect.stringContaining(`${path} is ${kind}`) });
  });

  test('tells what to pass instead', () => {
    expect(problemOf(5n)?.message).toContain('pass a string or a number');
    expect(problemOf(new Date())?.message).toContain('toISOString()');
    expect(problemOf([undefined])?.message).toContain('pass null');
  });

  test('names the class of an instance', () => {
    class Invoice {}
    expect(problemOf(new Invoice())?.message).toContain('is a Invoice');
  });

  test('takes the same object in two places, but not within itself', () => {
    const shared = { a: 1 };
    expect(problemOf({ left: shared, right: [shared] })).toBeNull();
    const cyclic = { list: [] as unknown[] };
    cyclic.list.push(cyclic);
    expect(problemOf(cyclic)?.path).toBe('data.list[0]');
  });

  test('leaves out undefined properties', () => {
    expect(problemOf({ a: undefined })).toBeNull();
  });

  test('takes objects without a prototype and plain objects of another realm', () => {
    expect(problemOf(Object.create(null))).toBeNull();
    expect(problemOf(runInNewContext('({ a: [1, { b: null }] })'))).toBeNull();
  });

  test('refuses instances of another realm', () => {
    expect(problemOf(runInNewContext('new Map()'))?.path).toBe('data');
    expect(problemOf(runInNewContext('({ at: new Date() })'))?.path).toBe('data.at');
  });

  test('refuses nesting that would overflow the stack with an error of its own', () => {
    let deep: unknown = 1;
    for (let i = 0; i < 20_000; i++) deep = { deep };
    expect(problemOf(deep)).toBeInstanceOf(NotJsonError);
  });

  test.each([
    ['x', 3],
    ['é', 4],
    ['€', 5],
    ['🦆', 6],
    ['"', 4],
    ['\n', 4],
  ])('counts %j as %i bytes of JSON', (value, bytes) => {
    expect(problemOf(value, bytes)).toBeNull();
    expect(problemOf(value, bytes - 1)?.message).toContain(`is ${bytes} bytes of JSON`);
  });
});
