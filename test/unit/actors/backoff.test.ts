/** How long to wait before the next attempt. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type Backoff, backoffMs, DEFAULT_MAX_BACKOFF_MS } from '../../../src/actors/backoff.ts';

const backoffs: fc.Arbitrary<Backoff> = fc.record(
  {
    type: fc.constantFrom('fixed', 'linear', 'exponential'),
    baseMs: fc.integer({ min: 0, max: 10_000_000 }),
    maxMs: fc.integer({ min: 0, max: 100_000_000 }),
    jitter: fc.double({ min: 0, max: 1, noNaN: true }),
  },
  { requiredKeys: ['type', 'baseMs'] },
);
const attempts = fc.integer({ min: 1, max: 5_000 });
const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });

describe('without jitter', () => {
  test.each<[Backoff['type'], readonly number[]]>([
    ['fixed', [500, 500, 500, 500, 500]],
    ['linear', [500, 1_000, 1_500, 2_000, 2_500]],
    ['exponential', [500, 1_000, 2_000, 4_000, 8_000]],
  ])('%s waits as its name says', (type, waits) => {
    expect(waits.map((_, index) => backoffMs({ type, baseMs: 500 }, index + 1, 0.7))).toEqual(waits);
  });

  test('maxMs is the longest wait', () => {
    const waits = [1, 2, 3, 4].map((n) => backoffMs({ type: 'exponential', baseMs: 500, maxMs: 1_800 }, n, 0));
    expect(waits).toEqual([500, 1_000, 1_800, 1_800]);
  });

  test('maxMs also holds for the first wait', () => {
    expect(backoffMs({ type: 'fixed', baseMs: 500, maxMs: 100 }, 1, 0)).toBe(100);
  });

  test('without maxMs an hour is the longest wait', () => {
    expect(backoffMs({ type: 'exponential', baseMs: 1_000 }, 60, 0)).toBe(DEFAULT_MAX_BACKOFF_MS);
    expect(backoffMs({ type: 'exponential', baseMs: 1_000 }, 5_000, 0)).toBe(3_600_000);
  });

  test('chance has no say', () => {
    fc.assert(
      fc.property(backoffs, attempts, chance, chance, (backoff, attempt, a, b) => {
        const plain: Backoff = { ...backoff, jitter: 0 };
        expect(backoffMs(plain, attempt, a)).toEqual(backoffMs(plain, attempt, b));
      }),
    );
  });
});

describe('with jitter', () => {
  test.each([
    [0, 0.5, 1_000],
    [0.5, 0, 1_000],
    [0.5, 0.5, 750],
    [0.5, 0.999999, 500],
    [1, 0.25, 750],
    [1, 0.999999, 0],
  ])('a share of %d and the chance %d make 1,000 ms into %d', (jitter, random, wait) => {
    expect(backoffMs({ type: 'fixed', baseMs: 1_000, jitter }, 1, random)).toBe(wait);
  });

  test('the limit is taken before jitter, so that a crowd at the limit is spread too', () => {
    expect(backoffMs({ type: 'exponential', baseMs: 1_000, maxMs: 2_000, jitter: 0.5 }, 30, 0.5)).toBe(1_500);
  });
});

test('every wait is a whole number of milliseconds between its limits', () => {
  fc.assert(
    fc.property(backoffs, attempts, chance, (backoff, attempt, random) => {
      const { maxMs = DEFAULT_MAX_BACKOFF_MS, jitter = 0 } = backoff;
      const longest = backoffMs({ ...backoff, jitter: 0 }, attempt, 0);
      const wait = backoffMs(backoff, attempt, random);
      expect(Number.isInteger(wait)).toBe(true);
      expect(wait).toBeGreaterThanOrEqual(0);
      expect(wait).toBeLessThanOrEqual(Math.min(longest, maxMs));
      expect(wait).toBeGreaterThanOrEqual(Math.floor(longest * (1 - jitter)));
    }),
    { examples: [[{ type: 'exponential', baseMs: 0 }, 1_500, 0]] },
  );
});

test('no wait is shorter than the one before', () => {
  fc.assert(
    fc.property(backoffs, fc.integer({ min: 1, max: 900 }), (backoff, attempt) => {
      const plain: Backoff = { ...backoff, jitter: 0 };
      expect(backoffMs(plain, attempt + 1, 0)).toBeGreaterThanOrEqual(backoffMs(plain, attempt, 0));
    }),
  );
});
