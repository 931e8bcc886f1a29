import { describe, expect, test, vi } from 'vitest';
import { FatalError, RecoverableError, RetryAfter } from '../../../src/actors/handler.ts';
import type { Disposition, JobRecord } from '../../../src/actors/vocabulary.ts';
import { type RetryOptions, RetryStrategy } from '../../../src/runtime/retry-strategy.ts';

const job = (attempt = 1) => ({ id: 'x', attempt }) as JobRecord;
const says = (disposition: unknown) => Object.assign(new Error('x'), { disposition });

describe('the order of decision', () => {
  const other = { recoverable: 'fatal', fatal: 'recoverable' } as const;

  test.each(['recoverable', 'fatal'] as const)(
    'an error that says %s of itself is believed before all others',
    (own) => {
      const no = other[own];
      const strategy = new RetryStrategy({ classify: () => no, disposition: no });
      expect(strategy.decide(says(own), job(), no).disposition).toBe(own);
    },
  );

  test.each(['recoverable', 'fatal'] as const)('classify that says %s comes second', (word) => {
    const no = other[word];
    const strategy = new RetryStrategy({ classify: () => word, disposition: no });
    expect(strategy.decide(new Error('x'), job(), no).disposition).toBe(word);
  });

  test.each(['recoverable', 'fatal'] as const)("the caller's default of %s comes third", (fallback) => {
    const strategy = new RetryStrategy({ classify: () => undefined, disposition: other[fallback] });
    expect(strategy.decide(new Error('x'), job(), fallback).disposition).toBe(fallback);
  });

  test.each(['recoverable', 'fatal'] as const)('disposition %s comes last', (disposition) => {
    const strategy = new RetryStrategy({ classify: () => undefined, disposition });
    expect(strategy.decide(new Error('x'), job()).disposition).toBe(disposition);
  });

  test('an error nobody has decided on is fatal', () => {
    expect(new RetryStrategy().decide(new Error('x'), job()).disposition).toBe('fatal');
  });

  test.each<[string, unknown, Disposition]>([
    ['RecoverableError', new RecoverableError('x'), 'recoverable'],
    ['RetryAfter', new RetryAfter(5), 'recoverable'],
    ['FatalError', new FatalError('x'), 'fatal'],
    ['a plain object that says so', { disposition: 'recoverable' }, 'recoverable'],
  ])('%s decides for itself, and classify is not asked', (_, thrown, disposition) => {
    const classify = vi.fn(() => undefined);
    expect(new RetryStrategy({ classify }).decide(thrown, job()).disposition).toBe(disposition);
    expect(classify).not.toHaveBeenCalled();
  });

  test.each(['maybe', true, 5, null])('an error that says %s of itself has not decided', (word) => {
    expect(new RetryStrategy({ disposition: 'recoverable' }).decide(says(word), job()).disposition).toBe('recoverable');
  });
});

describe('classify', () => {
  test('receives the error and the job', () => {
    const classify = vi.fn<NonNullable<RetryOptions['classify']>>(() => 'fatal');
    const error = new Error('x');
    const subject = job();
    new RetryStrategy({ classify }).decide(error, subject);
    expect(classify).toHaveBeenCalledExactlyOnceWith(error, subject);
  });

  test.each<[string, unknown, string]>([
    ['a string', 'boom', 'boom'],
    ['undefined', undefined, 'undefined'],
    ['null', null, 'null'],
    ['a symbol', Symbol('s'), 'Symbol(s)'],
  ])('receives an Error even if the handler threw %s', (_, thrown, message) => {
    const classify = vi.fn<NonNullable<RetryOptions['classify']>>(() => 'fatal');
    new RetryStrategy({ classify }).decide(thrown, job());
    expect(classify.mock.calls[0]?.[0]).toBeInstanceOf(Error);
    expect(classify.mock.calls[0]?.[0].message).toBe(message);
  });
});

describe('something thrown that cannot be shown', () => {
  const unshowable = {
    toString() {
      throw new Error('no');
    },
  };
  test.each<[string, unknown]>([
    ['an object without a prototype', Object.create(null)],
    ['an object whose toString throws', unshowable],
  ])('%s is decided on like any other', (_, thrown) => {
    expect(new RetryStrategy({ disposition: 'recoverable' }).decide(thrown, job()).disposition).toBe('recoverable');
  });
});

describe('the wait', () => {
  test('is the backoff for the attempt', () => {
    const strategy = new RetryStrategy({ backoff: { type: 'exponential', baseMs: 100, maxMs: 500 } });
    const waits = [1, 2, 3, 4].map((attempt) => strategy.decide(new Error('x'), job(attempt)).delayMs);
    expect(waits).toEqual([100, 200, 400, 500]);
  });

  test('is exponential from one second by default', () => {
    const strategy = new RetryStrategy();
    expect([1, 2, 3].map((n) => strategy.decide(new Error('x'), job(n)).delayMs)).toEqual([1_000, 2_000, 4_000]);
  });

  test('is what the error asks for, if it does', () => {
    const strategy = new RetryStrategy({ backoff: { type: 'fixed', baseMs: 100 } });
    expect(strategy.decide(new RetryAfter(7_000), job()).delayMs).toBe(7_000);
    expect(strategy.decide(new RetryAfter(0), job()).delayMs).toBe(0);
  });

  test('takes its jitter from the number it is given', () => {
    const strategy = new RetryStrategy({ backoff: { type: 'fixed', baseMs: 100, jitter: 0.5 } });
    expect([0, 0.5, 0.999].map((random) => strategy.decide(new Error('x'), job(), undefined, random).delayMs)).toEqual([
      100, 75, 50,
    ]);
  });

  test.each([0.5, 1e300, Number.NaN, Number.POSITIVE_INFINITY, -5])(
    'is a whole number from 0 up even if an error asks for %s',
    (retryAfterMs) => {
      const thrown = Object.assign(new RecoverableError('x'), { retryAfterMs });
      const { delayMs } = new RetryStrategy().decide(thrown, job());
      expect(delayMs).toSatisfy(Number.isSafeInteger);
      expect(delayMs).toBeGreaterThanOrEqual(0);
    },
  );
});

test('maxAttempts is three unless it is given', () => {
  expect(new RetryStrategy().maxAttempts).toBe(3);
  expect(new RetryStrategy({ maxAttempts: 1 }).maxAttempts).toBe(1);
});
