/** The log. */
import { expect } from 'vitest';
import { type Case, FAILURE, type Harness, on, T0 } from './harness.ts';

/** Three jobs with interleaved lives; a refused and a failed commit lie between them. */
async function history(h: Harness): Promise<void> {
  const a = await h.born({ id: 'a' }, on.claimed(T0 + 1));
  await h.born({ id: 'b', pipeline: 'mail' });
  await h.send('a', on.progressed(T0 + 2, 50), on.phaseFailed(T0 + 3, T0 + 9));
  await h.commit({ changes: [h.judge(a, on.phaseCompleted(T0 + 4, 1))] });
  await h
    .commit({
      births: [h.birthGroup([{ id: 'unborn' }])],
      load: ['a'],
      judge: () => {
        throw new Error('rolled back');
      },
    })
    .catch(() => {});
  await h.commit({ births: [h.birthGroup([{ id: 'c' }, { id: 'd' }])] });
  await h.send('b', on.cancel(T0 + 5), on.markStale(T0 + 6), on.delete(T0 + 7));
  await h.claim([{ pipeline: 'thumbs', phaseIndex: 0, limit: 9 }], { now: T0 + 9 });
}

export const transitions: readonly Case[] = [
  {
    name: 'positions rise by one over all jobs, whatever was refused or rolled back between',
    async run(h) {
      await history(h);
      const log = await h.log();
      expect(log.length).toBeGreaterThan(8);
      expect(log.map(({ position }) => position)).toEqual(log.map((_, index) => index + 1));
    },
  },
  {
    name: 'the numbers of each job begin with 0 and have no gaps, and each entry begins where the last one ended',
    async run(h) {
      await history(h);
      for (const id of ['a', 'b', 'c', 'd']) {
        const log = await h.store.transitions(id);
        expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index));
        expect(log.map(({ from }) => from)).toEqual([null, ...log.slice(0, -1).map(({ to }) => to)]);
        expect(log[0]).toMatchObject({ event: 'born', to: 'pending' });
      }
    },
  },
  {
    name: 'row and last log entry agree',
    async run(h) {
      await history(h);
      for (const job of (await h.store.listJobs({}, 10, null)).jobs) {
        const last = (await h.store.transitions(job.id)).at(-1);
        const to = job.status === 'active' ? `active.${job.currentPhase}` : job.status;
        expect(last).toMatchObject({ seq: job.seq, to, attempt: job.attempt, pipeline: job.pipeline });
      }
    },
  },
  {
    name: 'an entry comes back as it was judged, and is stamped with its position',
    async run(h) {
      const held = await h.born({}, on.claimed());
      const change = h.judge(held, on.phaseFailed(T0 + 1, T0 + 2));
      await h.commit({ changes: [change] });
      const [entry] = await h.store.readLog(2, 10);
      expect(entry).toEqual(change.transitions[0]);
      expect(entry).toEqual({
        position: 3,
        jobId: held.id,
        pipeline: 'thumbs',
        seq: 2,
        from: 'active.download',
        to: 'retrying',
        event: 'phaseFailed',
        phase: 'download',
        attempt: 1,
        error: { ...FAILURE, phase: 'download' },
        at: T0 + 1,
      });
    },
  },
  {
    name: 'progress is no history',
    async run(h) {
      const { id } = await h.born({}, on.claimed());
      const before = await h.log();
      await h.send(id, on.progressed(T0 + 1, 10), on.progressed(T0 + 2, 20));
      expect(await h.log()).toEqual(before);
    },
  },
  {
    name: 'a reader that pages sees every entry once, whatever the size of the page',
    async run(h) {
      await history(h);
      const whole = await h.store.readLog(0, 1_000);
      for (const limit of [1, 2, 3, whole.length, whole.length + 1]) {
        const seen = [];
        let after = 0;
        for (;;) {
          const page = await h.store.readLog(after, limit);
          expect(page.length).toBeLessThanOrEqual(limit);
          if (page.length === 0) break;
          seen.push(...page);
          after = page.at(-1)!.position;
        }
        expect(seen).toEqual(whole);
      }
      expect(await h.store.readLog(whole.length, 10)).toEqual([]);
      expect(await h.store.readLog(whole.length + 99, 10)).toEqual([]);
    },
  },
  {
    name: 'the log of a deleted job remains',
    async run(h) {
      await history(h);
      expect((await h.store.transitions('b')).map(({ to }) => to)).toEqual([
        'pending',
        'cancelled',
        'stale',
        'deleted',
      ]);
      expect(await h.store.transitions('nobody')).toEqual([]);
    },
  },
  {
    name: 'positions are not used again after the log was pruned or the store was opened again',
    reopens: true,
    async run(h) {
      await history(h);
      const last = (await h.log()).at(-1)!.position;
      await h.store.pruneLog({ olderThan: null, keep: 0 }, 1_000);
      await h.reopen();
      await h.born({ id: 'after' });
      expect((await h.log()).map(({ position }) => position)).toEqual([last + 1]);
    },
  },
  {
    name: 'the range of the log is what is kept, and what was last given out even when nothing is kept',
    reopens: true,
    async run(h) {
      expect(await h.store.logRange()).toEqual({ oldest: 1, newest: 0 });
      await history(h);
      const newest = (await h.log()).length;
      expect(await h.store.logRange()).toEqual({ oldest: 1, newest });
      await h.store.pruneLog({ olderThan: null, keep: 3 }, 1_000);
      expect(await h.store.logRange()).toEqual({ oldest: newest - 2, newest });
      await h.store.pruneLog({ olderThan: null, keep: 0 }, 1_000);
      expect(await h.store.logRange()).toEqual({ oldest: newest + 1, newest });
      await h.reopen();
      expect(await h.store.logRange()).toEqual({ oldest: newest + 1, newest });
      await h.born({ id: 'after' });
      expect(await h.store.logRange()).toEqual({ oldest: newest + 1, newest: newest + 1 });
    },
  },
];
