/** Who holds which job, and who the holders are. */
import { expect } from 'vitest';
import { type Case, on, T0 } from './harness.ts';

const ME = { id: 'runtime-1', host: 'mill', pid: 17, processStart: '4711' };
const YOU = { id: 'runtime-2', host: 'race', pid: 18, processStart: null };

export const leases: readonly Case[] = [
  {
    name: 'runtimes are known from registration until they leave',
    async run({ store }) {
      await store.register(ME);
      await store.register(YOU);
      await store.register({ ...ME, pid: 99 });
      const known = [...(await store.runtimes())].sort((a, b) => a.id.localeCompare(b.id));
      expect(known).toEqual([{ ...ME, pid: 99 }, YOU]);
      await store.unregister(ME.id);
      await store.unregister('nobody');
      expect(await store.runtimes()).toEqual([YOU]);
    },
  },
  {
    name: 'renewing answers with the ids the runtime still holds and extends those leases only',
    async run(h) {
      const mine = await h.born({}, on.claimed(T0, ME.id));
      const yours = await h.born({}, on.claimed(T0, YOU.id));
      const lost = await h.born({}, on.claimed(T0, ME.id));
      await h.send(lost.id, on.interrupted(T0 + 1), on.claimed(T0 + 2, YOU.id));
      await h.born({}, on.claimed(T0, ME.id), on.released(T0 + 1));
      await h.born({}, on.claimed(T0, ME.id), on.complete(T0 + 1, 1));
      expect(await h.store.renewLeases(ME.id, T0 + 90_000)).toEqual([mine.id]);
      expect(await h.job(mine.id)).toEqual({ ...mine, leaseExpiresAt: T0 + 90_000 });
      expect(await h.job(yours.id)).toEqual(yours);
      expect((await h.job(lost.id)).leaseExpiresAt).toBe(T0 + 30_002);
      expect(await h.store.renewLeases('nobody', T0 + 90_000)).toEqual([]);
    },
  },
  {
    name: 'renewing is no history and leaves the holder its job',
    async run(h) {
      const held = await h.born({}, on.claimed(T0, ME.id));
      const before = await h.log();
      await h.store.renewLeases(ME.id, T0 + 90_000);
      expect(await h.log()).toEqual(before);
      const { stale } = await h.commit({ changes: [h.judge(held, on.phaseCompleted(T0 + 1, 1))] });
      expect(stale.size).toBe(0);
    },
  },
  {
    name: 'a runtime can ask what it holds without renewing it',
    async run(h) {
      const held = await h.born({}, on.claimed(T0, ME.id));
      await h.born({}, on.claimed(T0, YOU.id));
      await h.born({}, on.claimed(T0, ME.id), on.cancel(T0));
      expect(await h.store.heldBy(ME.id)).toEqual([held.id]);
      expect((await h.job(held.id)).leaseExpiresAt).toBe(T0 + 30_000);
    },
  },
  {
    name: 'progress judged before a renewal does not shorten the renewed lease',
    async run(h) {
      const held = await h.born({}, on.claimed(T0, ME.id));
      await h.store.renewLeases(ME.id, T0 + 90_000);
      await h.commit({ changes: [h.judge(held, on.progressed(T0 + 40_000, 50))] });
      expect(await h.job(held.id)).toMatchObject({ progress: 17, leaseExpiresAt: T0 + 90_000 });
    },
  },
  {
    name: 'going on to the next phase does not shorten a renewed lease',
    async run(h) {
      const held = await h.born({}, on.claimed(T0, ME.id));
      await h.store.renewLeases(ME.id, T0 + 90_000);
      await h.commit({ changes: [h.judge(held, on.phaseCompleted(T0 + 40_000, 1))] });
      expect((await h.store.heldByOthers(YOU.id))[0]).toMatchObject({ id: held.id, leaseExpiresAt: T0 + 90_000 });
    },
  },
  {
    name: 'a claim after a release has its own lease, not the renewed one',
    async run(h) {
      const { id } = await h.born({}, on.claimed(T0, ME.id));
      await h.store.renewLeases(ME.id, T0 + 90_000);
      await h.send(id, on.released(T0 + 1), on.claimed(T0 + 2, YOU.id));
      expect((await h.job(id)).leaseExpiresAt).toBe(T0 + 30_002);
    },
  },
  {
    name: 'jobs held by others are the active ones of every runtime but mine',
    async run(h) {
      await h.born({}, on.claimed(T0, ME.id));
      const yours = await h.born({}, on.claimed(T0, YOU.id), on.released(T0), on.claimed(T0 + 1, YOU.id));
      const theirs = await h.born({ pipeline: 'mail' }, on.claimed(T0 + 2, 'runtime-3'));
      await h.born();
      await h.born({}, on.claimed(T0, YOU.id), on.cancel(T0));
      const held = [...(await h.store.heldByOthers(ME.id))].sort((a, b) => a.owner.localeCompare(b.owner));
      expect(held).toEqual([
        { id: yours.id, fence: 2, leaseExpiresAt: T0 + 30_001, owner: YOU.id },
        { id: theirs.id, fence: 1, leaseExpiresAt: T0 + 30_002, owner: 'runtime-3' },
      ]);
    },
  },
];
