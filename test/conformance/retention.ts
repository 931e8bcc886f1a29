/** Expiry, the two stages of retention, and the pruning of the log. */
import { expect } from 'vitest';
import { type Case, type Harness, on, T0 } from './harness.ts';

/** Ten log entries, one millisecond apart, the first at T0. */
async function tenEntries(h: Harness): Promise<void> {
  for (let i = 0; i < 10; i++) await h.born({ createdAt: T0 + i });
}

async function positions(h: Harness): Promise<readonly number[]> {
  return (await h.log()).map(({ position }) => position);
}

const prunings: readonly [
  what: string,
  rule: { olderThan: number | null; keep: number | null },
  limit: number,
  left: readonly number[],
][] = [
  ['nothing', { olderThan: null, keep: null }, 100, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['by age', { olderThan: T0 + 4, keep: null }, 100, [5, 6, 7, 8, 9, 10]],
  ['by count', { olderThan: null, keep: 3 }, 100, [8, 9, 10]],
  ['by age, which reaches further than count', { olderThan: T0 + 8, keep: 7 }, 100, [9, 10]],
  ['by count, which reaches further than age', { olderThan: T0 + 2, keep: 4 }, 100, [7, 8, 9, 10]],
  ['no more than the limit', { olderThan: T0 + 8, keep: null }, 3, [4, 5, 6, 7, 8, 9, 10]],
  ['nothing when all is young', { olderThan: T0, keep: 10 }, 100, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['nothing when there is less than is kept', { olderThan: null, keep: 99 }, 100, [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]],
  ['everything that is old', { olderThan: T0 + 99, keep: null }, 100, []],
  ['everything', { olderThan: null, keep: 0 }, 100, []],
];

export const retention: readonly Case[] = [
  {
    name: 'expired jobs are the never-started ones whose time has passed, earliest first',
    async run(h) {
      const second = await h.born({ expiresAt: T0 + 20 });
      const first = await h.born({ expiresAt: T0 + 10 });
      const third = await h.born({ expiresAt: T0 + 30 }, on.pause(T0));
      await h.born({ expiresAt: T0 + 10 }, on.claimed());
      await h.born({ expiresAt: T0 + 10 }, on.claimed(), on.released(T0));
      await h.born({ expiresAt: T0 + 10 }, on.claimed(), on.phaseFailed(T0, T0));
      await h.born({ expiresAt: T0 + 10 }, on.cancel(T0));
      await h.born({ expiresAt: T0 + 10 }, on.cancel(T0), on.retry(T0));
      await h.born();
      expect(await h.store.expired(T0 + 9, 9)).toEqual({ ids: [], nextAt: T0 + 10 });
      expect(await h.store.expired(T0 + 10, 9)).toEqual({ ids: [first.id], nextAt: T0 + 20 });
      expect(await h.store.expired(T0 + 30, 9)).toEqual({ ids: [first.id, second.id, third.id], nextAt: null });
      expect((await h.store.expired(T0 + 30, 2)).ids).toEqual([first.id, second.id]);
    },
  },
  {
    name: 'nothing expires when nothing can',
    async run(h) {
      await h.born();
      expect(await h.store.expired(T0 + 1_000_000, 9)).toEqual({ ids: [], nextAt: null });
    },
  },
  {
    name: 'finished jobs are found oldest first, strictly before the time, at most so many',
    async run(h) {
      const b = await h.born({}, on.claimed(), on.gaveUp(T0 + 20));
      const c = await h.born({}, on.cancel(T0 + 30));
      const a = await h.born({}, on.complete(T0 + 10, 1));
      await h.born({}, on.cancel(T0 + 5), on.markStale(T0 + 6));
      await h.born({}, on.cancel(T0 + 5), on.retry(T0 + 6));
      await h.born({}, on.claimed());
      await h.born();
      expect(await h.store.finishedBefore(T0 + 31, 9)).toEqual([a.id, b.id, c.id]);
      expect(await h.store.finishedBefore(T0 + 30, 9)).toEqual([a.id, b.id]);
      expect(await h.store.finishedBefore(T0 + 31, 2)).toEqual([a.id, b.id]);
      expect(await h.store.finishedBefore(T0, 9)).toEqual([]);
    },
  },
  {
    name: 'stale jobs are found in the order they were marked, strictly before the time, at most so many',
    async run(h) {
      const b = await h.born({}, on.cancel(T0 + 1), on.markStale(T0 + 20));
      const a = await h.born({}, on.cancel(T0 + 2), on.markStale(T0 + 10));
      const c = await h.born({}, on.complete(T0 + 1, 1), on.markStale(T0 + 30));
      await h.born({}, on.cancel(T0), on.markStale(T0 + 5), on.retry(T0 + 6));
      await h.born({}, on.cancel(T0));
      expect(await h.store.staleBefore(T0 + 31, 9)).toEqual([a.id, b.id, c.id]);
      expect(await h.store.staleBefore(T0 + 30, 9)).toEqual([a.id, b.id]);
      expect(await h.store.staleBefore(T0 + 31, 1)).toEqual([a.id]);
    },
  },
  ...prunings.map(
    ([what, rule, limit, left]): Case => ({
      name: `pruning takes ${what}, from the old end only`,
      async run(h) {
        await tenEntries(h);
        expect(await h.store.pruneLog(rule, limit)).toBe(10 - left.length);
        expect(await positions(h)).toEqual(left);
      },
    }),
  ),
  {
    name: 'pruning in small bites comes to the same end',
    async run(h) {
      await tenEntries(h);
      const bites: number[] = [];
      for (;;) {
        const gone = await h.store.pruneLog({ olderThan: null, keep: 3 }, 3);
        bites.push(gone);
        if (gone === 0) break;
      }
      expect(bites).toEqual([3, 3, 1, 0]);
      expect(await positions(h)).toEqual([8, 9, 10]);
    },
  },
  {
    name: 'pruning by age stops at the first young entry, so that no hole is made',
    async run(h) {
      for (const at of [1, 2, 50, 3, 4, 60]) await h.born({ createdAt: T0 + at });
      expect(await h.store.pruneLog({ olderThan: T0 + 10, keep: null }, 100)).toBe(2);
      expect(await positions(h)).toEqual([3, 4, 5, 6]);
    },
  },
  {
    name: 'pruning an empty log takes nothing',
    async run({ store }) {
      expect(await store.pruneLog({ olderThan: T0, keep: 0 }, 100)).toBe(0);
    },
  },
  {
    name: 'pruning leaves the jobs as they are, and they go on where their numbers ended',
    async run(h) {
      const job = await h.born({}, on.claimed());
      await h.store.pruneLog({ olderThan: null, keep: 0 }, 100);
      expect(await h.job(job.id)).toEqual(job);
      await h.send(job.id, on.cancel(T0 + 1));
      expect(await h.store.transitions(job.id)).toMatchObject([{ seq: 2, to: 'cancelled' }]);
    },
  },
  {
    name: 'tidying changes nothing that can be seen',
    async run(h) {
      await tenEntries(h);
      const before = await h.everything();
      await h.store.tidy();
      expect(await h.everything()).toEqual(before);
    },
  },
];
