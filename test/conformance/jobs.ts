/** Births, changes, and reading jobs back. */
import { expect } from 'vitest';
import type { JobRecord, StopReason } from '../../src/actors/vocabulary.ts';
import { type Case, FAILURE, type Harness, on, T0 } from './harness.ts';

const LONG = { text: 'ä"\u2028😀'.repeat(1_000), list: [1, null, { deep: [true] }] };

/** How a holder loses its job, and what it is then told. */
const losses: readonly [reason: StopReason, how: (harness: Harness, held: JobRecord) => Promise<unknown>][] = [
  ['not_found', (h, { id }) => h.send(id, on.complete(T0 + 1, 1), on.markStale(T0 + 2), on.delete(T0 + 3))],
  ['taken_by_another_worker', (h, { id }) => h.send(id, on.interrupted(T0 + 1), on.claimed(T0 + 2, 'runtime-2'))],
  ['taken_by_another_worker', (h, { id }) => h.send(id, on.interrupted(T0 + 1))],
  ['already_completed', (h, { id }) => h.send(id, on.complete(T0 + 1, 'from outside'))],
  ['cancelled', (h, { id }) => h.send(id, on.cancel(T0 + 1))],
  ['paused', (h, { id }) => h.send(id, on.pause(T0 + 1))],
];

const paging: readonly [what: string, chosen: (job: JobRecord) => boolean, filter: Parameters<typeof pages>[1]][] = [
  ['nothing', () => true, {}],
  ['a status', ({ status }) => status === 'pending', { status: 'pending' }],
  [
    'several statuses',
    ({ status }) => status === 'pending' || status === 'cancelled',
    { status: ['pending', 'cancelled'] },
  ],
  ['no status at all', () => false, { status: [] }],
  ['a pipeline', ({ pipeline }) => pipeline === 'mail', { pipeline: 'mail' }],
  ['several pipelines', () => true, { pipeline: ['mail', 'thumbs'] }],
  ['an unknown pipeline', () => false, { pipeline: 'fax' }],
  ['time after, exclusive', ({ createdAt }) => createdAt > T0 + 4, { createdAfter: T0 + 4 }],
  ['time before, exclusive', ({ createdAt }) => createdAt < T0 + 4, { createdBefore: T0 + 4 }],
  [
    'everything at once',
    (job) => job.pipeline === 'mail' && job.status === 'pending' && job.createdAt > T0 + 1 && job.createdAt < T0 + 10,
    { pipeline: ['mail'], status: ['pending'], createdAfter: T0 + 1, createdBefore: T0 + 10 },
  ],
];

async function pages(
  { store }: Harness,
  filter: Parameters<typeof store.listJobs>[0],
  limit: number,
  between: () => Promise<unknown> = async () => {},
): Promise<readonly JobRecord[]> {
  const all: JobRecord[] = [];
  let cursor: string | null = null;
  do {
    const page = await store.listJobs(filter, limit, cursor);
    expect(page.jobs.length).toBeLessThanOrEqual(limit);
    all.push(...page.jobs);
    cursor = page.cursor;
    await between();
  } while (cursor !== null);
  return all;
}

/** Twelve jobs of two pipelines in several states, one millisecond apart. */
async function crowd(h: Harness): Promise<readonly JobRecord[]> {
  const jobs: JobRecord[] = [];
  for (let i = 0; i < 12; i++) {
    const birth = { pipeline: i % 2 ? 'mail' : 'thumbs', createdAt: T0 + i };
    const events = i % 3 === 0 ? [on.cancel(T0 + i)] : i % 5 === 0 ? [on.claimed(T0 + i)] : [];
    jobs.push(await h.born(birth, ...events));
  }
  return jobs;
}

async function grouped(h: Harness): Promise<readonly string[]> {
  const groups = new Map<string, number>();
  for (const { pipeline, status } of (await h.store.listJobs({}, 1_000, null)).jobs) {
    groups.set(`${pipeline} ${status}`, (groups.get(`${pipeline} ${status}`) ?? 0) + 1);
  }
  return [...groups].map(([key, jobs]) => `${key} ${jobs}`).sort();
}

async function counted(h: Harness): Promise<readonly string[]> {
  return (await h.store.counts()).map(({ pipeline, status, jobs }) => `${pipeline} ${status} ${jobs}`).sort();
}

export const jobs: readonly Case[] = [
  {
    name: 'a birth is read back exactly as it was born',
    async run(h) {
      const group = h.birthGroup([
        { priority: -7, maxAttempts: 9, expiresAt: T0 + 5, timeoutMs: 60_000, webhookUrl: 'https://a.example/hook' },
        { data: null, pipeline: 'mail', scheduledAt: T0 + 1_000 },
      ]);
      await h.commit({ births: [group] });
      for (const { job } of group.births) expect(await h.store.getJob(job.id)).toEqual(job);
    },
  },
  {
    name: 'every state of a life is read back exactly as it was judged',
    async run(h) {
      const { id } = await h.born();
      // `send` compares the stored job with the judged one after every event.
      await h.send(id, on.claimed(T0 + 1), on.progressed(T0 + 2, 33), on.phaseCompleted(T0 + 3, { bytes: 3 }));
      await h.send(id, on.phaseFailed(T0 + 4, T0 + 50), on.claimed(T0 + 50), on.released(T0 + 51));
      await h.send(id, on.pause(T0 + 52), on.resume(T0 + 53), on.claimed(T0 + 54), on.gaveUp(T0 + 55));
      await h.send(id, on.retry(T0 + 56), on.claimed(T0 + 57), on.cancel(T0 + 58), on.markStale(T0 + 59));
      await h.send(id, on.retry(T0 + 60), on.complete(T0 + 61, 'done'), on.markStale(T0 + 62), on.delete(T0 + 63));
    },
  },
  {
    name: 'a job that nobody knows is undefined',
    async run(h) {
      const { id } = await h.born();
      expect(await h.store.getJob('nobody')).toBeUndefined();
      expect(await h.store.getJobs(['nobody', id])).toEqual([await h.job(id)]);
    },
  },
  {
    name: 'a birth group is all or nothing when a chosen id is taken',
    async run(h) {
      await h.born({ id: 'mine' });
      const before = await h.everything();
      const group = h.birthGroup([{ id: 'first' }, { id: 'mine' }, { id: 'last' }], ['first', 'mine']);
      const { takenIds } = await h.commit({ births: [group] });
      expect(takenIds).toEqual([['mine']]);
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'a birth group with a taken id does not hold up the other groups of its batch',
    async run(h) {
      await h.born({ id: 'mine' });
      const { takenIds } = await h.commit({
        births: [
          h.birthGroup([{ id: 'a' }]),
          h.birthGroup([{ id: 'b' }, { id: 'mine' }], ['mine']),
          h.birthGroup([{ id: 'c' }], ['c']),
        ],
      });
      expect(takenIds).toEqual([[], ['mine'], []]);
      expect((await h.store.getJobs(['a', 'b', 'c'])).map(({ id }) => id).sort()).toEqual(['a', 'c']);
    },
  },
  {
    name: 'a chosen id is taken when an earlier group of the same batch has it',
    async run(h) {
      const births = [h.birthGroup([{ id: 'twin' }], ['twin']), h.birthGroup([{ id: 'twin' }, {}], ['twin'])];
      const { takenIds } = await h.commit({ births });
      expect(takenIds).toEqual([[], ['twin']]);
      expect((await h.store.listJobs({}, 10, null)).jobs).toHaveLength(1);
    },
  },
  {
    name: 'a chosen id of a deleted job that the log still knows does not break the batch it comes in',
    async run(h) {
      await h.born({ id: 'again' }, on.cancel(T0), on.markStale(T0), on.delete(T0));
      const innocent = h.birthGroup([{ id: 'innocent' }]);
      const { takenIds } = await h.commit({ births: [innocent, h.birthGroup([{ id: 'again' }], ['again'])] });
      expect(await h.store.getJob('innocent')).toBeDefined();
      // Either answer is honest: the id is taken until the log is pruned, or it is free.
      expect(takenIds[1]).toEqual((await h.store.getJob('again')) ? [] : ['again']);
    },
  },
  ...losses.map(
    ([reason, lose], index): Case => ({
      name: `a holder that has lost its job is told ${reason} and writes nothing (${index + 1})`,
      async run(h) {
        const held = await h.born({}, on.claimed());
        await lose(h, held);
        const before = await h.everything();
        const late = h.judge(held, on.phaseCompleted(T0 + 9, 'too late'));
        const { stale } = await h.commit({ changes: [late] });
        expect([...stale]).toEqual([[late, reason]]);
        expect(await h.everything()).toEqual(before);
      },
    }),
  ),
  {
    name: 'a late holder cannot delete, nor bring back, what it no longer holds',
    async run(h) {
      const stale = await h.born({}, on.cancel(T0), on.markStale(T0));
      const removal = h.judge(stale, on.delete(T0 + 2));
      await h.send(stale.id, on.retry(T0 + 1));
      const before = await h.everything();
      const committed = await h.commit({ changes: [removal] });
      expect(committed.stale.get(removal)).toBe('taken_by_another_worker');
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'a stale change does not hold up the others of its batch',
    async run(h) {
      const lost = await h.born({}, on.claimed());
      const mine = await h.born({}, on.claimed());
      await h.send(lost.id, on.cancel(T0 + 1));
      const late = h.judge(lost, on.phaseCompleted(T0 + 2, 1));
      const good = h.judge(mine, on.phaseCompleted(T0 + 2, 2));
      const { stale } = await h.commit({ changes: [late, good] });
      expect([...stale.keys()]).toEqual([late]);
      expect(await h.job(mine.id)).toEqual(good.job);
    },
  },
  {
    name: 'progress of a lost job is refused like any other change',
    async run(h) {
      const held = await h.born({}, on.claimed());
      await h.send(held.id, on.interrupted(T0 + 1), on.claimed(T0 + 2, 'runtime-2'));
      const before = await h.everything();
      const late = h.judge(held, on.progressed(T0 + 3, 99));
      const { stale } = await h.commit({ changes: [late] });
      expect(stale.get(late)).toBe('taken_by_another_worker');
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'a judge of loaded jobs that throws rolls back the births and changes of the batch',
    async run(h) {
      const held = await h.born({}, on.claimed());
      const other = await h.born();
      const before = await h.everything();
      const failing = h.commit({
        births: [h.birthGroup([{ id: 'unborn' }])],
        changes: [h.judge(held, on.phaseCompleted(T0 + 1, 'r'))],
        load: [other.id],
        judge: () => {
          throw new Error('the judge is ill');
        },
      });
      await expect(failing).rejects.toThrow('the judge is ill');
      expect(await h.everything()).toEqual(before);
      // Nothing is left over that a later commit would write.
      await h.born({ id: 'later' });
      expect(await counted(h)).toEqual(await grouped(h));
    },
  },
  {
    name: 'a judge of claims that throws rolls back the births, changes and earlier claims of the batch',
    async run(h) {
      const held = await h.born({}, on.claimed());
      await h.born();
      await h.born();
      const before = await h.everything();
      let judged = 0;
      const failing = h.commit({
        births: [h.birthGroup([{ id: 'unborn' }])],
        changes: [h.judge(held, on.cancel(T0 + 1))],
        claim: {
          now: T0,
          wants: [{ pipeline: 'thumbs', phaseIndex: 0, limit: 9 }],
          admit: () => true,
          judge(job) {
            if (judged++ === 1) throw new Error('the judge is ill');
            return h.judge(job, on.claimed());
          },
        },
      });
      await expect(failing).rejects.toThrow('the judge is ill');
      expect(judged).toBe(2);
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'loaded jobs are judged as stored, and unknown ids are missing',
    async run(h) {
      const job = await h.born();
      const seen: JobRecord[] = [];
      const { missing } = await h.commit({
        load: [job.id, 'nobody'],
        judge(stored) {
          seen.push(stored);
          return h.judge(stored, on.cancel(T0 + 1));
        },
      });
      expect(seen).toEqual([job]);
      expect([...missing]).toEqual(['nobody']);
      expect(await h.job(job.id)).toMatchObject({ status: 'cancelled', seq: 1 });
    },
  },
  {
    name: 'a loaded job that the judge leaves alone stays as it was',
    async run(h) {
      const { id } = await h.born();
      const before = await h.everything();
      await h.commit({ load: [id], judge: () => null });
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'data of any length and kind comes back equal',
    async run(h) {
      const values = [LONG, 'x'.repeat(2_046), 'x'.repeat(2_047), '😀'.repeat(1_023), '', 0, false, null, [], {}];
      for (const data of values) {
        const { id } = await h.born({ data }, on.claimed(), on.progressed(T0 + 1, 50));
        expect((await h.job(id)).data).toEqual(data);
        expect((await h.store.getJobs([id]))[0]?.data).toEqual(data);
      }
      const listed = await h.store.listJobs({}, values.length, null);
      expect(listed.jobs.map(({ data }) => data).reverse()).toEqual(values);
    },
  },
  {
    name: 'results of any length come back equal and survive every further change',
    async run(h) {
      const { id } = await h.born({ data: LONG }, on.claimed(), on.phaseCompleted(T0 + 1, LONG));
      await h.send(id, on.phaseCompleted(T0 + 2, null), on.progressed(T0 + 3, 10), on.gaveUp(T0 + 4));
      await h.send(id, on.markStale(T0 + 5), on.retry(T0 + 6), on.pause(T0 + 7), on.cancel(T0 + 8));
      const job = await h.job(id);
      expect(job.phaseResults).toEqual({ download: LONG, resize: null });
      expect(job.data).toEqual(LONG);
      expect((await h.store.getJobs([id]))[0]).toEqual(job);
      expect((await h.store.listJobs({}, 1, null)).jobs[0]).toEqual(job);
    },
  },
  {
    name: 'results judged together are written together',
    async run(h) {
      const held = await h.born({}, on.claimed());
      const all = [1, 2, 3].map((result) => on.phaseCompleted(T0 + result, { result }));
      const change = h.judge(held, ...all);
      await h.commit({ changes: [change] });
      expect(await h.job(held.id)).toEqual(change.job);
      expect(change.job).toMatchObject({ status: 'completed', seq: 4 });
      expect(await h.store.transitions(held.id)).toHaveLength(5);
    },
  },
  {
    name: 'a phase that returns nothing leaves no result',
    async run(h) {
      const { id } = await h.born({}, on.claimed(), on.phaseCompleted(T0 + 1, undefined));
      expect((await h.job(id)).phaseResults).toEqual({});
    },
  },
  {
    name: 'a failure comes back with all its fields',
    async run(h) {
      const { id } = await h.born({}, on.claimed(), on.phaseFailed(T0 + 1, T0 + 2));
      expect((await h.job(id)).error).toEqual({ ...FAILURE, phase: 'download' });
    },
  },
  {
    name: 'deleting takes the row and its payloads, so that nothing of them comes back with the id',
    async run(h) {
      const { id } = await h.born({ data: LONG }, on.claimed(), on.phaseCompleted(T0 + 1, LONG), on.cancel(T0 + 2));
      await h.send(id, on.markStale(T0 + 3), on.delete(T0 + 4));
      expect(await h.store.getJob(id)).toBeUndefined();
      expect(await h.store.getJobs([id])).toEqual([]);
      expect((await h.store.listJobs({}, 10, null)).jobs).toEqual([]);
      expect(await h.store.counts()).toEqual([]);
      await h.store.pruneLog({ olderThan: null, keep: 0 }, 1_000);
      const group = h.birthGroup([{ id, data: 'new' }], [id]);
      await h.commit({ births: [group] });
      await h.send(id, on.claimed(T0 + 5), on.phaseCompleted(T0 + 6, undefined));
      expect(await h.job(id)).toMatchObject({ data: 'new', phaseResults: {} });
    },
  },
  {
    name: 'counts equal a group-by of all jobs, after every commit',
    async run(h) {
      const check = async () => expect(await counted(h)).toEqual(await grouped(h));
      await check();
      const jobs = await crowd(h);
      await check();
      await h.commit({ births: [h.birthGroup([{}, {}, { pipeline: 'mail' }])] });
      await check();
      await h.claim([{ pipeline: 'thumbs', phaseIndex: 0, limit: 3 }], { now: T0 + 99 });
      await check();
      for (const { id, status } of jobs) {
        if (status === 'cancelled') await h.send(id, on.markStale(T0 + 99));
        if (status === 'active') await h.send(id, on.progressed(T0 + 99, 5));
      }
      await check();
      for (const { id, status } of jobs) if (status === 'cancelled') await h.send(id, on.delete(T0 + 99));
      await check();
    },
  },
  ...paging.map(
    ([what, chosen, filter]): Case => ({
      name: `pages filtered by ${what} are complete, newest first and without doubles`,
      async run(h) {
        const expected = (await crowd(h)).filter(chosen).reverse();
        for (const limit of [1, 2, 3, 12, 13]) expect(await pages(h, filter, limit)).toEqual(expected);
      },
    }),
  ),
  {
    name: 'pages stay complete and without doubles while jobs are inserted, changed and deleted',
    async run(h) {
      const before = await crowd(h);
      const gone = await h.born({}, on.cancel(T0), on.markStale(T0));
      let inserted = 0;
      const seen = await pages(h, {}, 2, async () => {
        await h.born({ createdAt: T0 + 100 });
        if (inserted++ === 0) await h.send(gone.id, on.delete(T0 + 1));
        if (inserted === 2) await h.send(before[0]!.id, on.retry(T0 + 100));
      });
      expect(seen.map(({ id }) => id)).toEqual([gone.id, ...before.map(({ id }) => id).reverse()]);
    },
  },
  {
    name: 'jobs of one birth group are listed in the order of their birth',
    async run(h) {
      await h.commit({ births: [h.birthGroup([{ id: 'c' }, { id: 'a' }, { id: 'b' }])] });
      expect((await pages(h, {}, 2)).map(({ id }) => id)).toEqual(['b', 'a', 'c']);
    },
  },
];
