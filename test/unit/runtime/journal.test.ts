import { describe, expect, test } from 'vitest';
import type { TransitionRecord } from '../../../src/actors/vocabulary.ts';
import { Asides } from '../../../src/runtime/journal/asides.ts';
import { eventId, idOf, placeOf } from '../../../src/runtime/journal/event-id.ts';
import { Tail } from '../../../src/runtime/journal/tail.ts';
import { newborn } from '../actors/jobs.ts';

function entry(position: number): TransitionRecord {
  return {
    position,
    jobId: 'a',
    pipeline: 'p',
    seq: position,
    from: null,
    to: 'pending',
    event: 'born',
    phase: null,
    attempt: 0,
    error: null,
    at: 0,
  };
}

const positions = (tail: Tail, after: number) => [...tail.after(after)].map(({ transition }) => transition.position);

describe('the tail of the log', () => {
  test('gives out unbroken runs only', () => {
    const tail = new Tail();
    for (const position of [3, 4, 6]) tail.add(entry(position), null);
    expect([0, 2, 3, 4, 5, 6].map((after) => positions(tail, after))).toEqual([[], [3, 4], [4], [], [6], []]);
    expect(tail.newest).toBe(6);
  });

  test('keeps the newest entries, by number and by length', () => {
    const tail = new Tail();
    for (let position = 1; position <= 3_000; position++) tail.add(entry(position), null);
    expect(positions(tail, 2_000)).toHaveLength(1_000);
    expect(tail.at(2_000)).toBeUndefined();
    const large = { ...newborn(), data: 'x'.repeat(100_000) };
    for (let position = 3_001; position <= 3_020; position++) tail.add(entry(position), large);
    expect(positions(tail, 3_015)).toEqual([3_016, 3_017, 3_018, 3_019, 3_020]);
    expect(tail.at(3_015)).toBeUndefined();
    tail.add(entry(3_021), { ...large, data: 'x'.repeat(600_000) });
    expect(tail.at(3_021)).toBeUndefined();
    tail.add(entry(3_022), large);
    expect(positions(tail, 3_021)).toEqual([3_022]);
  });
});

describe('asides', () => {
  const aside = (jobId: string, after: number, data = 'x') => ({ name: 'job:progress', jobId, after, data }) as const;

  test('wait for their place in the log, in order', () => {
    const asides = new Asides();
    for (const [jobId, after] of [
      ['a', 3],
      ['b', 3],
      ['c', 5],
    ] as const)
      asides.add(aside(jobId, after));
    expect([...asides.take(2)]).toEqual([]);
    expect([...asides.take(4)].map(({ jobId }) => jobId)).toEqual(['a', 'b']);
    expect([...asides.take(9)].map(({ jobId }) => jobId)).toEqual(['c']);
    expect([...asides.take(9)]).toEqual([]);
  });

  test('of one job and name come down to the latest, in its place', () => {
    const asides = new Asides();
    asides.add(aside('a', 1, 'old'));
    asides.add(aside('b', 2));
    asides.add(aside('a', 3, 'new'));
    expect([...asides.take(9)].map(({ jobId, data }) => `${jobId} ${data}`)).toEqual(['b x', 'a new']);
  });

  test('that nobody takes are dropped from the old end, but never the newest', () => {
    const asides = new Asides();
    for (let i = 0; i < 100; i++) asides.add(aside(`job-${i}`, 1, 'x'.repeat(1_000)));
    const kept = [...asides.take(1)].map(({ jobId }) => jobId);
    expect(kept).toHaveLength(65);
    expect(kept.at(-1)).toBe('job-99');
    asides.add(aside('large', 1, 'x'.repeat(1_000_000)));
    expect([...asides.take(1)]).toHaveLength(1);
  });
});

describe('the id of an event', () => {
  test('is its position, or, when more is to come of the entry, the one before and how much of it was told', () => {
    expect(eventId(17, 1, true)).toBe('17');
    expect(eventId(17, 1, false)).toBe('16.1');
    expect(eventId(17, 2, true)).toBe('17');
  });

  test('tells the place it was given at', () => {
    expect(placeOf('17')).toEqual({ position: 17, told: 0 });
    expect(placeOf('16.1')).toEqual({ position: 16, told: 1 });
    for (const id of ['0', '17', '16.1']) expect(idOf(placeOf(id)!)).toBe(id);
  });

  test.each(['', 'a', '-1', '1.', '1.0', '1.2', '1.1.1', ' 1', '1 ', '1e3', '0x1', '1'.repeat(16)])(
    'is not %j',
    (id) => {
      expect(placeOf(id)).toBeNull();
    },
  );
});
