/** Phase lists, and what becomes of jobs when they change. */
import { expect } from 'vitest';
import { PhasesChangedError } from '../../src/runtime/errors.ts';
import type { PhaseList } from '../../src/runtime/store/port.ts';
import { type Case, type Harness, on, PHASES, T0 } from './harness.ts';

/** The harness's lists, with `thumbs` replaced. */
function thumbs(...phases: readonly string[]): readonly PhaseList[] {
  return PHASES.map((list) => (list.pipeline === 'thumbs' ? { ...list, phases } : list));
}

/** Jobs of `thumbs` that have finished none, one and two phases. */
async function threeStages(h: Harness) {
  const none = await h.born({ id: 'none' });
  const one = await h.born({ id: 'one' }, on.claimed(), on.phaseCompleted(T0 + 1, { kb: 9 }), on.released(T0 + 2));
  const two = await h.born({ id: 'two' }, on.claimed(), on.phaseCompleted(T0 + 1, 1), on.phaseCompleted(T0 + 2, 2));
  await h.send('two', on.phaseFailed(T0 + 3, T0 + 4));
  return { none, one, two: await h.job(two.id) };
}

export const machines: readonly Case[] = [
  {
    name: 'every pipeline has a version of its own',
    async run({ store }) {
      expect([...store.machineVersions.keys()].sort()).toEqual(['mail', 'thumbs']);
      expect(new Set(store.machineVersions.values()).size).toBe(2);
      expect(store.abandoned).toEqual([]);
    },
  },
  {
    name: 'the same list keeps its version',
    reopens: true,
    async run(h) {
      const versions = new Map(h.store.machineVersions);
      await threeStages(h);
      const before = await h.everything();
      await h.reopen([...PHASES].reverse());
      expect(new Map(h.store.machineVersions)).toEqual(versions);
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'a list that comes back gets its old version back',
    reopens: true,
    async run(h) {
      const first = h.store.machineVersions.get('thumbs');
      await h.reopen(thumbs('download', 'upload'));
      expect(h.store.machineVersions.get('thumbs')).not.toBe(first);
      await h.reopen();
      expect(h.store.machineVersions.get('thumbs')).toBe(first);
    },
  },
  {
    name: 'jobs whose finished phases begin the new list move on under it, with their results',
    reopens: true,
    async run(h) {
      const { none, one, two } = await threeStages(h);
      const log = await h.log();
      await h.reopen(thumbs('download', 'resize', 'sharpen', 'upload', 'notify'));
      const version = h.store.machineVersions.get('thumbs');
      expect(await h.job('none')).toMatchObject({ seq: none.seq, phaseIndex: 0, machineVersion: version });
      expect(await h.job('one')).toMatchObject({
        status: 'pending',
        seq: one.seq,
        phaseIndex: 1,
        phaseResults: { download: { kb: 9 } },
        progress: 20,
        machineVersion: version,
      });
      expect(await h.job('two')).toMatchObject({
        status: 'retrying',
        seq: two.seq,
        scheduledAt: T0 + 4,
        phaseResults: { download: 1, resize: 2 },
      });
      for (const { phases } of (await h.store.listJobs({}, 9, null)).jobs) {
        expect(phases.map(({ name }) => name)).toEqual(['download', 'resize', 'sharpen', 'upload', 'notify']);
      }
      expect((await h.job('two')).phases.map(({ status }) => status)).toEqual([
        'completed',
        'completed',
        'pending',
        'pending',
        'pending',
      ]);
      expect(await h.log()).toEqual(log);
      await h.send('two', on.claimed(T0 + 9), on.phaseCompleted(T0 + 9, 3), on.phaseCompleted(T0 + 9, 4));
      expect(await h.job('two')).toMatchObject({ currentPhase: 'notify', phaseResults: { sharpen: 3, upload: 4 } });
    },
  },
  {
    name: 'incompatible jobs refuse the opening with an error that names the pipeline, their number and both lists',
    reopens: true,
    async run(h) {
      await threeStages(h);
      const before = await h.everything();
      const refused = await h.reopen(thumbs('fetch', 'resize')).catch((error: unknown) => error);
      expect(refused).toBeInstanceOf(PhasesChangedError);
      expect(refused).toMatchObject({ code: 'phases_changed', pipeline: 'thumbs', jobs: 2 });
      const { message } = refused as Error;
      for (const part of [
        '"thumbs"',
        '2 unfinished',
        '[download, resize, upload]',
        '[fetch, resize]',
        'onPhasesChanged',
      ]) {
        expect(message).toContain(part);
      }
      await h.reopen();
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'an active job that cannot go on refuses the opening too',
    reopens: true,
    async run(h) {
      await h.born({}, on.claimed(), on.phaseCompleted(T0 + 1, 1));
      await expect(h.reopen(thumbs('fetch', 'resize'))).rejects.toMatchObject({ jobs: 1 });
      await h.reopen();
    },
  },
  {
    name: 'a list too short for what is finished refuses',
    reopens: true,
    async run(h) {
      await threeStages(h);
      await expect(h.reopen(thumbs('download', 'resize'))).rejects.toMatchObject({ code: 'phases_changed', jobs: 1 });
      await h.reopen();
    },
  },
  {
    name: 'finished jobs never stand in the way and keep the phases they had',
    reopens: true,
    async run(h) {
      const done = await h.born({}, on.complete(T0, 1));
      const cancelled = await h.born({}, on.claimed(), on.phaseCompleted(T0 + 1, 1), on.cancel(T0 + 2));
      const failed = await h.born({}, on.claimed(), on.gaveUp(T0 + 2));
      const stale = await h.born({}, on.cancel(T0 + 1), on.markStale(T0 + 2));
      await h.reopen(thumbs('other'));
      for (const job of [done, cancelled, failed, stale]) expect(await h.job(job.id)).toEqual(job);
    },
  },
  {
    name: 'pipelines that this program does not have are left alone',
    reopens: true,
    async run(h) {
      await threeStages(h);
      const before = await h.everything();
      await h.reopen([{ pipeline: 'mail', phases: ['send'] }]);
      expect([...h.store.machineVersions.keys()]).toEqual(['mail']);
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: "'migrate' keeps the common beginning and runs the rest",
    reopens: true,
    async run(h) {
      await threeStages(h);
      await h.reopen(thumbs('download', 'crop', 'upload'), 'migrate');
      const version = h.store.machineVersions.get('thumbs');
      expect(h.store.abandoned).toEqual([]);
      expect(await h.job('none')).toMatchObject({ phaseIndex: 0, machineVersion: version });
      expect(await h.job('one')).toMatchObject({ phaseIndex: 1, phaseResults: { download: { kb: 9 } } });
      const two = await h.job('two');
      expect(two).toMatchObject({ status: 'retrying', phaseIndex: 1, progress: 33, machineVersion: version });
      expect(two.phaseResults).toEqual({ download: 1 });
      expect(two.phases.map(({ name, status }) => `${name} ${status}`)).toEqual([
        'download completed',
        'crop pending',
        'upload pending',
      ]);
      await h.send('two', on.claimed(T0 + 9), on.phaseCompleted(T0 + 9, 'cropped'), on.phaseCompleted(T0 + 9, 'up'));
      expect(await h.job('two')).toMatchObject({
        status: 'completed',
        phaseResults: { download: 1, crop: 'cropped', upload: 'up' },
      });
    },
  },
  {
    name: "'migrate' leaves one phase to run when the new list is all finished",
    reopens: true,
    async run(h) {
      await threeStages(h);
      await h.reopen(thumbs('download', 'resize'), 'migrate');
      const two = await h.job('two');
      expect(two).toMatchObject({ phaseIndex: 1 });
      expect(two.phaseResults).toEqual({ download: 1 });
      expect((await h.claim([{ pipeline: 'thumbs', phaseIndex: 1, limit: 9 }], { now: T0 + 9 })).ids).toContain('two');
    },
  },
  {
    name: "'migrate' with nothing in common begins again without results",
    reopens: true,
    async run(h) {
      await threeStages(h);
      await h.reopen(thumbs('other'), 'migrate');
      for (const id of ['none', 'one', 'two']) {
        expect(await h.job(id)).toMatchObject({ phaseIndex: 0, phaseResults: {}, progress: 0 });
        expect((await h.job(id)).phases.map(({ name }) => name)).toEqual(['other']);
      }
    },
  },
  {
    name: "'fail' lists the jobs that cannot go on and leaves them as they are; the others move on",
    reopens: true,
    async run(h) {
      const { one, two } = await threeStages(h);
      const active = await h.born({}, on.claimed(), on.phaseCompleted(T0 + 1, 1));
      await h.born({}, on.claimed(), on.phaseCompleted(T0 + 1, 1), on.cancel(T0 + 2));
      await h.reopen(thumbs('fetch', 'resize'), 'fail');
      expect([...h.store.abandoned].sort()).toEqual([active.id, 'one', 'two'].sort());
      expect(await h.job('one')).toEqual(one);
      expect(await h.job('two')).toEqual(two);
      expect((await h.job('none')).machineVersion).toBe(h.store.machineVersions.get('thumbs'));
    },
  },
];
