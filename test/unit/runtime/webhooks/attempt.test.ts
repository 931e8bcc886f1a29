import { expect, test } from 'vitest';
import { judgeAnswer, judgeFault, retryAfterMs } from '../../../../src/runtime/edges/webhooks/attempt.ts';
import { PrivateAddressError } from '../../../../src/runtime/private-addresses.ts';

const NOW = Date.parse('2026-01-01T00:00:00Z');

test.each([200, 201, 202, 204, 299])('%i has arrived', (status) => {
  expect(judgeAnswer({ status, retryAfter: undefined }, NOW)).toEqual({ delivered: true, status });
});

test.each([500, 502, 503, 504, 599, 408, 429])('%i is tried again', (status) => {
  expect(judgeAnswer({ status, retryAfter: '7' }, NOW)).toMatchObject({ final: false, status, retryAfterMs: 7_000 });
});

test.each([300, 301, 302, 307, 308, 400, 401, 404, 410, 422])('%i fails at once, whatever it asks for', (status) => {
  expect(judgeAnswer({ status, retryAfter: '7' }, NOW)).toMatchObject({ final: true, status, retryAfterMs: null });
});

test.each([
  ['0', 0],
  ['120', 120_000],
  [' 3 ', 3_000],
  ['Thu, 01 Jan 2026 00:02:00 GMT', 120_000],
  ['Wed, 31 Dec 2025 00:00:00 GMT', 0],
  ['99999999999', 86_400_000],
  ['Thursday, 01-Jan-26 00:02:00 GMT', 120_000],
  ['Thu Jan  1 00:02:00 2026 GMT', 120_000],
  ['soon', null],
  ['1.5', null],
  ['-5', null],
  ['1e3', null],
  ['0x10', null],
  ['2026', 2_026_000],
  ['2026-01-02', null],
  ['Someday, perhaps', null],
  ['', null],
  [undefined, null],
])('Retry-After: %s means a wait of %s ms', (header, wait) => {
  expect(retryAfterMs(header, NOW)).toBe(wait);
});

test('a fault on the way is tried again, a refused address is not', () => {
  expect(judgeFault(Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }))).toMatchObject({
    final: false,
    status: null,
    error: 'connect ECONNREFUSED',
  });
  expect(judgeFault(new PrivateAddressError('localhost'))).toMatchObject({ final: true });
  expect(judgeFault(Object.assign(new AggregateError([]), { code: 'ETIMEDOUT' }))).toMatchObject({
    error: 'ETIMEDOUT',
  });
});
