import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { systemClock } from '../../../src/runtime/clock.ts';

const DAY = 86_400_000;
const START = Date.UTC(2025, 0, 1);

describe('systemClock.at', () => {
  beforeEach(() => void vi.useFakeTimers({ now: START }));
  afterEach(() => void vi.useRealTimers());

  test('rings when the time is reached, once, and not before', () => {
    const ring = vi.fn();
    systemClock.at(START + 1_000, ring);
    vi.advanceTimersByTime(999);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ring).toHaveBeenCalledTimes(1);
    vi.advanceTimersByTime(10 * DAY);
    expect(ring).toHaveBeenCalledTimes(1);
  });

  test.each([
    ['the longest timer Node has', 2 ** 31 - 1],
    ['one millisecond more', 2 ** 31],
    ['a year', 365 * DAY],
    ['ten years', 3_652 * DAY],
  ])('does not ring at once for a time %s away', (_, wait) => {
    const ring = vi.fn();
    systemClock.at(START + wait, ring);
    vi.advanceTimersByTime(wait - 1);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ring).toHaveBeenCalledTimes(1);
  });

  test.each([0, -1, -10 * DAY])('rings soon, but never synchronously, for a time %i ms from now', (offset) => {
    const ring = vi.fn();
    systemClock.at(START + offset, ring);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ring).toHaveBeenCalledTimes(1);
  });

  test('does not ring early for a fraction of a millisecond', () => {
    const ring = vi.fn();
    systemClock.at(START + 10.5, ring);
    vi.advanceTimersByTime(10);
    expect(ring).not.toHaveBeenCalled();
    vi.advanceTimersByTime(1);
    expect(ring).toHaveBeenCalledTimes(1);
  });

  test('does not ring once cancelled, in the first piece of a long wait or a later one', () => {
    const ring = vi.fn();
    const cancelEarly = systemClock.at(START + 1_000, ring);
    const cancelLate = systemClock.at(START + 100 * DAY, ring);
    cancelEarly();
    vi.advanceTimersByTime(60 * DAY);
    cancelLate();
    vi.advanceTimersByTime(60 * DAY);
    expect(ring).not.toHaveBeenCalled();
    expect(vi.getTimerCount()).toBe(0);
  });

  test('cancels without harm after it has rung', () => {
    const ring = vi.fn();
    const cancel = systemClock.at(START, ring);
    vi.advanceTimersByTime(1);
    cancel();
    cancel();
    expect(ring).toHaveBeenCalledTimes(1);
  });
});

test('systemClock does not keep the process alive', () => {
  const before = process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
  const cancel = systemClock.at(Date.now() + DAY, () => {});
  expect(process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length).toBe(before);
  cancel();
});
