/** The lines handlers wrote. */
import { expect } from 'vitest';
import type { JobLogLine } from '../../src/runtime/store/port.ts';
import { type Case, type Harness, on, T0 } from './harness.ts';

const line = (jobId: string, text: string, more: Partial<JobLogLine> = {}): JobLogLine => ({
  jobId,
  at: T0,
  phase: 'download',
  attempt: 1,
  level: 'info',
  text,
  ...more,
});

async function textsOf(h: Harness, id: string): Promise<readonly string[]> {
  return (await h.store.logs(id)).map(({ text }) => text);
}

export const logs: readonly Case[] = [
  {
    name: 'lines come back in the order they were written, whatever time they carry',
    async run(h) {
      await h.born({ id: 'a' });
      await h.commit({ logs: [line('a', 'one', { at: T0 + 9 }), line('a', 'two', { at: T0 + 9 })] });
      await h.commit({ logs: [line('a', 'three', { at: T0 + 1 })] });
      expect(await textsOf(h, 'a')).toEqual(['one', 'two', 'three']);
    },
  },
  ...(['debug', 'info', 'warn', 'error'] as const).map(
    (level): Case => ({
      name: `a line comes back as it was: ${level}`,
      async run(h) {
        await h.born({ id: 'a' });
        const text = 'naïve "quotes"\n\ttabs, 漢字 and 🎡';
        await h.commit({ logs: [line('a', text, { level, attempt: 3, phase: 'resize' })] });
        expect(await h.store.logs('a')).toEqual([{ at: T0, phase: 'resize', attempt: 3, level, text }]);
      },
    }),
  ),
  {
    name: 'jobs have their own lines, and a silent one has none',
    async run(h) {
      for (const id of ['a', 'b', 'c']) await h.born({ id });
      await h.commit({ logs: [line('a', 'of a'), line('b', 'of b'), line('a', 'of a again')] });
      expect(await textsOf(h, 'a')).toEqual(['of a', 'of a again']);
      expect(await textsOf(h, 'b')).toEqual(['of b']);
      expect(await textsOf(h, 'c')).toEqual([]);
    },
  },
  {
    name: 'lines of jobs nobody knows are dropped, and the rest of the commit stands',
    async run(h) {
      const held = await h.born({ id: 'a' }, on.claimed());
      const change = h.judge(held, on.cancel(T0 + 1));
      await h.commit({ changes: [change], logs: [line('nobody', 'lost'), line('a', 'kept')] });
      expect(await textsOf(h, 'nobody')).toEqual([]);
      expect(await textsOf(h, 'a')).toEqual(['kept']);
      expect((await h.job('a')).status).toBe('cancelled');
    },
  },
  {
    name: 'a job born in the same commit has its lines',
    async run(h) {
      await h.commit({ births: [h.birthGroup([{ id: 'new' }])], logs: [line('new', 'first')] });
      expect(await textsOf(h, 'new')).toEqual(['first']);
    },
  },
  {
    name: 'lines go with their job, and none comes after it',
    async run(h) {
      await h.born({ id: 'b' });
      const job = await h.born({ id: 'a' }, on.cancel(T0 + 1), on.markStale(T0 + 2));
      await h.commit({ logs: [line('a', 'early'), line('b', 'stays')] });
      await h.commit({ changes: [h.judge(job, on.delete(T0 + 3))], logs: [line('a', 'in the same commit')] });
      await h.commit({ logs: [line('a', 'late')] });
      expect(await textsOf(h, 'a')).toEqual([]);
      expect(await textsOf(h, 'b')).toEqual(['stays']);
    },
  },
  {
    name: 'a commit that fails keeps no line',
    async run(h) {
      await h.born({ id: 'a' });
      const judge = () => {
        throw new Error('rolled back');
      };
      await h.commit({ load: ['a'], judge, logs: [line('a', 'never')] }).catch(() => {});
      expect(await textsOf(h, 'a')).toEqual([]);
    },
  },
  {
    name: 'lines are no history: they change neither the job nor its log',
    async run(h) {
      await h.born({ id: 'a' }, on.claimed());
      const before = await h.everything();
      await h.commit({ logs: [line('a', 'said')] });
      expect(await h.everything()).toEqual(before);
    },
  },
  {
    name: 'lines outlive the store, and new ones follow the old',
    reopens: true,
    async run(h) {
      await h.born({ id: 'a' });
      await h.commit({ logs: [line('a', 'before')] });
      await h.reopen();
      await h.commit({ logs: [line('a', 'after')] });
      expect(await textsOf(h, 'a')).toEqual(['before', 'after']);
    },
  },
];
