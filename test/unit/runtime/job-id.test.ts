import { describe, expect, test } from 'vitest';
import { newJobId } from '../../../src/runtime/job-id.ts';

const UUID_V7 = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe('newJobId', () => {
  test('makes 100,000 valid UUIDs of version 7, no two alike', () => {
    const ids = Array.from({ length: 100_000 }, () => newJobId(1_700_000_000_000));
    expect(ids.filter((id) => !UUID_V7.test(id))).toEqual([]);
    expect(new Set(ids).size).toBe(100_000);
  });

  test('sorts by time', () => {
    const times = Array.from({ length: 10_000 }, (_, i) => 1_700_000_000_000 + i * 7_919);
    const ids = times.map(newJobId);
    expect(ids.toSorted()).toEqual(ids);
  });

  test.each([0, 1, 1_700_000_000_000, 2 ** 48 - 1])('holds the time it was given: %i', (now) => {
    const id = newJobId(now);
    expect(id).toMatch(UUID_V7);
    expect(Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16)).toBe(now);
  });

  test('uses every random bit', () => {
    const seen = Array.from({ length: 32 }, () => new Set<string>());
    for (let i = 0; i < 2_000; i++) {
      const digits = newJobId(0).replaceAll('-', '');
      for (const [at, digit] of [...digits].entries()) seen[at]?.add(digit);
    }
    const kinds = seen.map((digits) => digits.size);
    expect(kinds).toEqual([...Array(12).fill(1), 1, 16, 16, 16, 4, ...Array(15).fill(16)]);
  });
});
