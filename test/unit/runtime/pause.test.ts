import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Pause } from '../../../src/runtime/edges/client/pause.ts';

beforeEach(() => {
  vi.useFakeTimers();
  vi.spyOn(Math, 'random').mockReturnValue(0.4);
});
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

/** How long it waits, in milliseconds without the chance of a tenth more. */
async function waited(pause: Pause): Promise<number> {
  const begun = Date.now();
  const wait = pause.wait(undefined);
  await vi.runAllTimersAsync();
  await wait;
  return Math.round((Date.now() - begun) / 1.1);
}

test('a pause doubles with every failure, up to the longest, and is short again after a success', async () => {
  const pause = new Pause({ minRetryMs: 1_000, maxRetryMs: 5_000 });
  for (const ms of [1_000, 2_000, 4_000, 5_000, 5_000]) expect(await waited(pause)).toBe(ms);
  pause.reset();
  expect(await waited(pause)).toBe(1_000);
});

test('the server may ask for a longer pause, not for a shorter one than the client wants or a longer one than it bears', async () => {
  const pause = new Pause({ minRetryMs: 1_000, maxRetryMs: 5_000 });
  for (const [said, ms] of [
    [3_000, 3_000],
    [10, 1_000],
    [60_000, 5_000],
  ] as const) {
    pause.reset();
    pause.serverSays(said);
    expect(await waited(pause)).toBe(ms);
  }
});

test('a pause of nothing grows all the same', async () => {
  const pause = new Pause({ minRetryMs: 0, maxRetryMs: 10 });
  expect(await waited(pause)).toBe(1);
  for (let i = 0; i < 5; i++) await waited(pause);
  expect(await waited(pause)).toBe(10);
});

test('a signal that aborts ends the pause at once and leaves no timer', async () => {
  const pause = new Pause({ minRetryMs: 1_000, maxRetryMs: 5_000 });
  const stop = new AbortController();
  const wait = pause.wait(stop.signal);
  stop.abort();
  await wait;
  await pause.wait(stop.signal);
  expect(vi.getTimerCount()).toBe(0);
});

test('the longest pause is one that a timer can wait for, chance included', async () => {
  const longest = 2 ** 31 - 1;
  const pause = new Pause({ minRetryMs: longest, maxRetryMs: longest });
  expect(await waited(pause)).toBe(Math.round(longest / 1.1));
});
