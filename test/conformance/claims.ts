/** Which due jobs are next. */
import { expect } from 'vitest';
import type { Want } from '../../src/runtime/store/port.ts';
import { type Case, on, T0 } from './harness.ts';

const want = (pipeline: string, phaseIndex = 0, limit = 100): Want => ({ pipeline, phaseIndex, limit });
const EVERYTHING = [want('thumbs', 0), want('thumbs', 1), want('thumbs', 2), want('mail')];

export const claims: readonly Case[] = [
  {
    name: 'jobs are claimed in the order priority, due time, age, across pipelines',
    async run(h) {
      await h.born({ id: 'young', scheduledAt: T0 - 10 });
      await h.born({ id: 'mail-late', pipeline: 'mail', scheduledAt: T0 - 5 });
      await h.born({ id: 'late', scheduledAt: T0 - 5 });
      await h.born({ id: 'mail-low', pipeline: 'mail', priority: -1, scheduledAt: T0 - 100 });
      await h.born({ id: 'high', priority: 9, scheduledAt: T0 });
      await h.born({ id: 'mail-high', pipeline: 'mail', priority: 9, scheduledAt: T0 - 1 });
      await h.born({ id: 'younger', scheduledAt: T0 - 10 });
      await h.born(
        { id: 'tried', priority: 9 },
        on.claimed(T0 - 9),
        on.phaseCompleted(T0 - 8, 1),
        on.phaseFailed(T0 - 7, T0 - 2),
      );
      const order = ['tried', 'mail-high', 'high', 'young', 'younger', 'mail-late', 'late', 'mail-low'];
      expect(await h.claim(EVERYTHING)).toEqual({ ids: order, nextDueAt: null });
      for (const id of order) expect(await h.job(id)).toMatchObject({ status: 'active', leaseOwner: 'runtime-1' });
    },
  },
  {
    name: 'the order is the same when each claim has room for one job only',
    async run(h) {
      const expected: string[] = [];
      for (const [priority, dueBefore] of [
        [5, 1],
        [5, 0],
        [1, 7],
        [1, 2],
        [-3, 50],
      ] as const) {
        const pipeline = dueBefore % 2 ? 'mail' : 'thumbs';
        expected.push((await h.born({ pipeline, priority, scheduledAt: T0 - dueBefore })).id);
      }
      const ids: string[] = [];
      for (const _ of expected) {
        let room = 1;
        const claimed = await h.claim([want('thumbs', 0, 1), want('mail', 0, 1)], { admit: () => room-- > 0 });
        ids.push(...claimed.ids);
      }
      expect(ids).toEqual(expected);
    },
  },
  {
    name: 'jobs that are not due are not claimed, and the next due time is the earliest over all priorities',
    async run(h) {
      await h.born({ priority: 5, scheduledAt: T0 + 300 });
      await h.born({ priority: 0, scheduledAt: T0 + 100 });
      await h.born({ priority: -5, scheduledAt: T0 + 200 });
      const due = await h.born({ priority: -5, scheduledAt: T0 });
      expect(await h.claim(EVERYTHING)).toEqual({ ids: [due.id], nextDueAt: T0 + 100 });
      expect(await h.claim(EVERYTHING, { now: T0 + 99 })).toEqual({ ids: [], nextDueAt: T0 + 100 });
      expect((await h.claim(EVERYTHING, { now: T0 + 100 })).nextDueAt).toBe(T0 + 200);
    },
  },
  {
    name: 'the next due time is the earliest over all wants, retries included',
    async run(h) {
      await h.born({ pipeline: 'mail', scheduledAt: T0 + 500 });
      await h.born({}, on.claimed(T0 - 9), on.phaseCompleted(T0 - 8, 1), on.phaseFailed(T0 - 7, T0 + 400));
      expect((await h.claim(EVERYTHING)).nextDueAt).toBe(T0 + 400);
      expect((await h.claim([want('mail')])).nextDueAt).toBe(T0 + 500);
      expect((await h.claim([want('thumbs', 0)])).nextDueAt).toBeNull();
    },
  },
  {
    name: 'nobody waits for jobs that are paused, active or finished',
    async run(h) {
      const later = { scheduledAt: T0 + 100 };
      await h.born(later, on.pause(T0));
      await h.born(later, on.cancel(T0));
      await h.born(later, on.complete(T0, 1));
      await h.born({}, on.claimed());
      await h.born({}, on.claimed(), on.gaveUp(T0));
      await h.born({}, on.cancel(T0), on.markStale(T0));
      expect(await h.claim(EVERYTHING)).toEqual({ ids: [], nextDueAt: null });
    },
  },
  {
    name: 'a job that is not admitted stays where it is',
    async run(h) {
      await h.born();
      await h.born({ pipeline: 'mail' });
      const before = await h.everything();
      expect((await h.claim(EVERYTHING, { admit: () => false })).ids).toEqual([]);
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'a want that is not admitted does not hold up the others',
    async run(h) {
      await h.born({ priority: 9 });
      const mail = await h.born({ pipeline: 'mail' });
      const { ids } = await h.claim(EVERYTHING, { admit: ({ pipeline }) => pipeline === 'mail' });
      expect(ids).toEqual([mail.id]);
    },
  },
  {
    name: 'a want gets at most its limit, the best ones first',
    async run(h) {
      for (const priority of [1, 3, 2, 3, 1]) await h.born({ id: `p${priority}-${Math.random()}`, priority });
      const { ids } = await h.claim([want('thumbs', 0, 3)]);
      expect(ids.map((id) => id.slice(0, 2))).toEqual(['p3', 'p3', 'p2']);
    },
  },
  {
    name: 'a want is for one phase: jobs that have come further, or not so far, are left alone',
    async run(h) {
      const fresh = await h.born();
      const further = await h.born({}, on.claimed(T0 - 9), on.phaseCompleted(T0 - 8, 1), on.released(T0 - 7));
      expect((await h.claim([want('thumbs', 2)])).ids).toEqual([]);
      expect((await h.claim([want('thumbs', 1)])).ids).toEqual([further.id]);
      expect((await h.claim([want('thumbs', 0)])).ids).toEqual([fresh.id]);
      expect(await h.job(further.id)).toMatchObject({
        currentPhase: 'resize',
        fence: 2,
        phaseResults: { download: 1 },
      });
    },
  },
  {
    name: 'a job that the judge leaves alone stays where it is',
    async run(h) {
      await h.born();
      const before = await h.everything();
      await h.claim(EVERYTHING, { judge: () => null });
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'a job that the judge ends instead does not cost the next one its turn',
    async run(h) {
      const ended = await h.born({ priority: 1 });
      const next = await h.born();
      const { nextDueAt } = await h.claim([want('thumbs', 0, 1)], {
        judge: (job) => h.judge(job, job.id === ended.id ? on.cancel(T0) : on.claimed()),
      });
      // Either it is claimed at once, or the caller hears that something is due.
      const { status } = await h.job(next.id);
      expect(status === 'active' || (nextDueAt !== null && nextDueAt <= T0)).toBe(true);
    },
  },
  {
    name: 'a claim sees the births and changes of its own batch',
    async run(h) {
      const held = await h.born({}, on.claimed(T0 - 5));
      const claimed: string[] = [];
      await h.commit({
        births: [h.birthGroup([{ id: 'newborn', priority: 1 }])],
        changes: [h.judge(held, on.released(T0))],
        claim: {
          now: T0,
          wants: EVERYTHING,
          admit: () => true,
          judge(job) {
            claimed.push(job.id);
            return h.judge(job, on.claimed());
          },
        },
      });
      expect(claimed).toEqual(['newborn', held.id]);
      expect(await h.job(held.id)).toMatchObject({ status: 'active', fence: 2, seq: 3 });
    },
  },
  {
    name: 'a job is claimed once',
    async run(h) {
      await h.born();
      expect((await h.claim(EVERYTHING)).ids).toHaveLength(1);
      expect((await h.claim(EVERYTHING)).ids).toHaveLength(0);
    },
  },
  {
    name: 'every claim raises the fence and logs the transition in the same commit',
    async run(h) {
      const { id } = await h.born();
      for (const fence of [1, 2, 3]) {
        await h.claim(EVERYTHING, { now: T0 + fence });
        expect(await h.job(id)).toMatchObject({ status: 'active', fence });
        expect((await h.store.transitions(id)).at(-1)).toMatchObject({ event: 'claimed', at: T0 + fence });
        await h.send(id, on.released(T0 + fence));
      }
    },
  },
  {
    name: 'the largest and smallest priorities keep their places',
    async run(h) {
      for (const priority of [0, Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]) {
        await h.born({ id: String(priority), priority });
      }
      const order = [String(Number.MAX_SAFE_INTEGER), '0', String(Number.MIN_SAFE_INTEGER)];
      expect((await h.claim(EVERYTHING)).ids).toEqual(order);
    },
  },
];
