/** The page's own idea of a job's story: what it takes in, what it shows, and what it does not claim to know. */
import { describe, expect, it } from 'vitest';
// @ts-expect-error the page's modules are plain JavaScript for the browser
import { Story } from '../../../src/runtime/edges/inspector/page/story.js';

const job = {
  id: 'j',
  pipeline: 'p',
  status: 'active',
  currentPhase: 'a',
  seq: 1,
  updatedAt: 20,
  phaseResults: { a: 1, b: 2 },
  reason: 'r',
};
const entry = (seq: number, to: string) => ({
  jobId: 'j',
  seq,
  from: null,
  to,
  event: 'e',
  at: seq,
  past: null as unknown,
});
const open = (history: readonly object[]) => new Story({ job, history: [...history], omitted: 0, chart: 'p/a' });

describe('live events', () => {
  it('are taken in order, once', () => {
    const story = open([entry(0, 'pending'), entry(1, 'active.a')]);
    expect(story.take({ job, transition: entry(1, 'active.a') })).toBe(true);
    expect(story.history).toHaveLength(2);
    expect(story.take({ job: { ...job, seq: 2 }, transition: entry(2, 'active.b') })).toBe(true);
    expect([story.history.length, story.job.seq, story.entry.to]).toEqual([3, 2, 'active.b']);
  });

  it('after a gap, or of a job that is gone, ask for the log to be read again', () => {
    const story = open([entry(0, 'pending')]);
    expect(story.take({ job, transition: entry(2, 'active.b') })).toBe(false);
    expect(story.take({ job: null, transition: entry(1, 'deleted') })).toBe(false);
    expect(story.history).toHaveLength(1);
  });

  it('of progress replace the record only if they are news', () => {
    const story = open([entry(0, 'pending'), entry(1, 'active.a')]);
    story.progress({ ...job, updatedAt: 10, progress: 5 });
    expect(story.job.progress).toBeUndefined();
    story.progress({ ...job, updatedAt: 30, progress: 5 });
    expect(story.job.progress).toBe(5);
  });
});

describe('what is shown', () => {
  const past = { status: 'pending', attempt: 0, results: ['a'] };

  it('of the past is what the log tells, without what it does not keep', () => {
    const story = open([{ ...entry(0, 'pending'), past }, entry(1, 'active.a')]);
    story.goTo(0);
    const { record, source } = story.shown;
    expect(source).toBe('log');
    expect(record).toMatchObject({ status: 'pending', phaseResults: { a: 1 } });
    expect(record).not.toHaveProperty('reason');
    expect(record.phaseResults).not.toHaveProperty('b');
  });

  it('is the bare entry where nothing else is known, and the record as committed where it was seen', () => {
    const story = open([entry(0, 'pending'), entry(1, 'active.a')]);
    story.take({ job: { ...job, seq: 2 }, transition: entry(2, 'active.b') });
    story.take({ job: { ...job, seq: 3 }, transition: entry(3, 'completed') });
    story.goTo(0);
    expect(story.shown).toMatchObject({ source: 'entry', record: { seq: 0, to: 'pending' } });
    story.goTo(2);
    expect(story.shown).toMatchObject({ source: 'seen', record: { seq: 2 } });
    story.goTo(99);
    expect([story.step, story.shown.source]).toEqual([null, 'now']);
  });

  it('of a job whose log was pruned is the present', () => {
    const story = open([]);
    expect(story.entry).toMatchObject({ seq: 1, to: 'active.a' });
    expect(story.shown.source).toBe('now');
  });
});
