/** Binary values of results. */
import { expect } from 'vitest';
import type { Blob } from '../../src/actors/blobs.ts';
import type { JobRecord } from '../../src/actors/vocabulary.ts';
import type { Change } from '../../src/runtime/store/port.ts';
import { type Case, type Harness, on, PHASES, T0 } from './harness.ts';

const blob = (bytes: readonly number[], path: Blob['path'] = [], kind: Blob['kind'] = 'Uint8Array'): Blob => ({
  path,
  kind,
  bytes: Uint8Array.from(bytes),
});

/** What the completion of the job's current phase with these values looks like; nothing is written. */
function completed(h: Harness, job: JobRecord, blobs: readonly Blob[], at = T0 + 1): Change {
  const phase = job.currentPhase ?? '';
  const result = { blob: 'Uint8Array', bytes: blobs[0]?.bytes.byteLength ?? 0 };
  const change = h.judge(job, { type: 'phaseCompleted', at, result, blobs: blobs.length });
  return { ...change, newBlobs: [{ phase, blobs }] };
}

/** A job that has completed its first phase with these values, and its second with a value of its own. */
async function twoPhases(h: Harness, blobs: readonly Blob[], id = 'bytes'): Promise<JobRecord> {
  const first = completed(h, await h.born({ id }, on.claimed()), blobs);
  await h.commit({ changes: [first] });
  const second = completed(h, first.job, [blob([7])]);
  await h.commit({ changes: [second] });
  return second.job;
}

const shapes: readonly [what: string, blobs: readonly Blob[]][] = [
  ['a result that is one', [blob([1, 2, 3])]],
  ['several, in their order', [blob([2], ['b']), blob([1], ['a']), blob([3], ['c'])]],
  ['an ArrayBuffer', [blob([1, 2], ['raw'], 'ArrayBuffer')]],
  ['an empty one', [blob([])]],
  ['one deep inside', [blob([9], ['pages', 0, 'odd "key"', '', '__proto__'])]],
  ['every byte there is', [blob(Array.from({ length: 256 }, (_, i) => i))]],
];

export const blobs: readonly Case[] = [
  ...shapes.map(
    ([what, values]): Case => ({
      name: `put with the change, they come back as they were: ${what}`,
      async run(h) {
        const job = await twoPhases(h, values);
        expect(await h.store.blobs(job.id, 'download')).toEqual(values);
        expect(await h.job(job.id)).toEqual(job);
        expect(job.phases.map((phase) => phase.blobs)).toEqual([values.length, 1, 0]);
      },
    }),
  ),
  {
    name: 'each comes back in a buffer of its own, so that it can be moved',
    async run(h) {
      await twoPhases(h, [blob([1, 2], [0]), blob([3], [1])]);
      const found = await h.store.blobs('bytes', 'download');
      for (const { bytes } of found) expect(bytes.buffer.byteLength).toBe(bytes.byteLength);
      expect(new Set(found.map(({ bytes }) => bytes.buffer)).size).toBe(2);
    },
  },
  {
    name: 'they belong to one phase of one job; nobody else has any',
    async run(h) {
      await twoPhases(h, [blob([1])]);
      await twoPhases(h, [blob([2])], 'other');
      expect(await h.store.blobs('other', 'download')).toEqual([blob([2])]);
      expect(await h.store.blobs('bytes', 'resize')).toEqual([blob([7])]);
      expect(await h.store.blobs('bytes', 'upload')).toEqual([]);
      expect(await h.store.blobs('nobody', 'download')).toEqual([]);
    },
  },
  {
    name: 'shared memory is not stored: its place in the order stays empty',
    async run(h) {
      const shared: Blob = { path: [0], kind: 'SharedArrayBuffer', bytes: new Uint8Array(new SharedArrayBuffer(4)) };
      await twoPhases(h, [shared, blob([1], [1])]);
      expect(await h.store.blobs('bytes', 'download')).toEqual([blob([1], [1])]);
    },
  },
  {
    name: 'a change that comes too late brings none',
    async run(h) {
      const held = await h.born({ id: 'bytes' }, on.claimed());
      const late = completed(h, held, [blob([1])]);
      await h.send('bytes', on.cancel(T0 + 1));
      const { stale } = await h.commit({ changes: [late] });
      expect(stale.get(late)).toBe('cancelled');
      expect(await h.store.blobs('bytes', 'download')).toEqual([]);
    },
  },
  {
    name: 'a commit that fails brings none, and the same change may be tried again',
    async run(h) {
      const held = await h.born({ id: 'bytes' }, on.claimed());
      await h.born({ id: 'other' });
      const judge = () => {
        throw new Error('rolled back');
      };
      const change = completed(h, held, [blob([1])]);
      await expect(h.commit({ changes: [change], load: ['other'], judge })).rejects.toThrow('rolled back');
      expect(await h.store.blobs('bytes', 'download')).toEqual([]);
      await h.commit({ changes: [change] });
      expect(await h.store.blobs('bytes', 'download')).toEqual([blob([1])]);
    },
  },
  {
    name: 'they go with their job, and no other job loses any',
    async run(h) {
      await twoPhases(h, [blob([1])]);
      await twoPhases(h, [blob([2])], 'other');
      await h.send('bytes', on.cancel(T0 + 2), on.markStale(T0 + 3));
      expect(await h.store.blobs('bytes', 'download')).toEqual([blob([1])]);
      await h.send('bytes', on.delete(T0 + 4));
      expect(await h.store.blobs('bytes', 'download')).toEqual([]);
      expect(await h.store.blobs('bytes', 'resize')).toEqual([]);
      expect(await h.store.blobs('other', 'download')).toEqual([blob([2])]);
    },
  },
  {
    name: 'results that are dropped take theirs with them; those of other phases stay',
    async run(h) {
      const job = await twoPhases(h, [blob([1])]);
      const change = h.judge(job, on.pause(T0 + 2));
      const { resize: _, ...phaseResults } = change.job.phaseResults;
      await h.commit({ changes: [{ ...change, job: { ...change.job, phaseResults }, goneResults: ['resize'] }] });
      expect(await h.store.blobs('bytes', 'download')).toEqual([blob([1])]);
      expect(await h.store.blobs('bytes', 'resize')).toEqual([]);
      expect(Object.keys((await h.job('bytes')).phaseResults)).toEqual(['download']);
    },
  },
  {
    name: 'a phase list without the phase drops them, too, and the phase may bring them anew when it comes back',
    reopens: true,
    async run(h) {
      await twoPhases(h, [blob([1])]);
      await h.send('bytes', on.phaseFailed(T0 + 2, T0 + 3));
      await h.reopen([{ pipeline: 'thumbs', phases: ['download', 'crop', 'resize'] }], 'migrate');
      expect(await h.store.blobs('bytes', 'download')).toEqual([blob([1])]);
      expect(await h.store.blobs('bytes', 'resize')).toEqual([]);
      await h.send('bytes', on.claimed(T0 + 4), on.phaseCompleted(T0 + 5, 'cropped'));
      await h.commit({ changes: [completed(h, await h.job('bytes'), [blob([8])], T0 + 6)] });
      expect(await h.store.blobs('bytes', 'resize')).toEqual([blob([8])]);
    },
  },
  {
    name: 'they outlive the store',
    reopens: true,
    async run(h) {
      await twoPhases(h, [blob([1, 2])]);
      await h.reopen(PHASES);
      expect(await h.store.blobs('bytes', 'download')).toEqual([blob([1, 2])]);
    },
  },
];
