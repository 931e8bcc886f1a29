/** Which jobs can go on under another phase list, and what becomes of them. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { createJobChart, JobActor } from '../../../src/actors/job-actor.ts';
import { canGoOn, carryOver, keptPhases } from '../../../src/actors/phase-change.ts';
import { events, jobAfter, newborn } from './jobs.ts';

const { claimed, phaseCompleted, progressed, phaseFailed, released } = events;
const list = (text: string): string[] => (text === '' ? [] : text.split(''));

const changes: readonly [
  what: string,
  stored: string,
  finished: number,
  current: string,
  can: boolean,
  kept: number,
][] = [
  ['the same list', 'abc', 2, 'abc', true, 2],
  ['a phase added at the end', 'abc', 2, 'abcd', true, 2],
  ['a phase added after what is finished', 'abc', 1, 'axbc', true, 1],
  ['a phase added before what is finished', 'abc', 1, 'xabc', false, 0],
  ['a phase renamed that is not finished', 'abc', 1, 'axc', true, 1],
  ['a phase renamed that is finished', 'abc', 2, 'axc', false, 1],
  ['the running phase taken away', 'abc', 1, 'ac', true, 1],
  ['a finished phase taken away', 'abc', 2, 'bc', false, 0],
  ['all that was left taken away', 'abc', 2, 'ab', false, 1],
  ['finished phases in another order', 'abc', 2, 'bac', false, 0],
  ['unfinished phases in another order', 'abc', 1, 'acb', true, 1],
  ['nothing in common, nothing finished', 'abc', 0, 'x', true, 0],
  ['nothing in common, something finished', 'abc', 1, 'xyz', false, 0],
  ['a single phase that is finished and stays alone', 'ab', 1, 'a', false, 0],
];

describe('canGoOn and keptPhases', () => {
  for (const [what, stored, finished, current, can, kept] of changes) {
    test(`${what}: [${stored}] with ${finished} finished ${can ? 'goes' : 'cannot go'} on under [${current}]`, () => {
      expect(canGoOn(list(stored), finished, list(current))).toBe(can);
      expect(keptPhases(list(stored), finished, list(current))).toBe(kept);
    });
  }

  const lists = fc.uniqueArray(fc.constantFrom(...'abcdef'), { minLength: 1 });
  const jobs = lists.chain((stored) =>
    fc.tuple(fc.constant(stored), fc.integer({ min: 0, max: stored.length - 1 }), lists),
  );

  test('a job that can go on keeps all it has finished', () => {
    fc.assert(
      fc.property(jobs, ([stored, finished, current]) => {
        const kept = keptPhases(stored, finished, current);
        expect(kept === finished).toBe(canGoOn(stored, finished, current));
      }),
    );
  });

  test('what is kept begins both lists, and one phase is always left to run', () => {
    fc.assert(
      fc.property(jobs, ([stored, finished, current]) => {
        const kept = keptPhases(stored, finished, current);
        expect(current.slice(0, kept)).toEqual(stored.slice(0, kept));
        expect(kept).toBeLessThan(current.length);
        expect(kept).toBeGreaterThanOrEqual(0);
      }),
    );
  });
});

describe('carryOver', () => {
  const twoDone = () => jobAfter(newborn(), claimed, phaseCompleted, phaseCompleted, progressed, phaseFailed);

  test('keeps finished phases and their results; the others are fresh', () => {
    const before = twoDone();
    const job = carryOver(before, ['download', 'crop', 'upload', 'notify'], 7, 1);
    expect(job).toMatchObject({ phaseIndex: 1, machineVersion: 7, progress: 25, currentPhase: 'crop' });
    expect(job.phaseResults).toEqual({ download: 'r' });
    expect(job.phases[0]).toEqual(before.phases[0]);
    expect(job.phases.map(({ name, status }) => `${name} ${status}`)).toEqual([
      'download completed',
      'crop pending',
      'upload pending',
      'notify pending',
    ]);
  });

  test('is no transition: state, number, fence, attempts and schedule stay', () => {
    const before = twoDone();
    const { status, seq, fence, attempt, scheduledAt, error, data } = before;
    const job = carryOver(before, ['download', 'resize', 'store'], 7, 2);
    expect(job).toMatchObject({ status, seq, fence, attempt, scheduledAt, error, data });
  });

  test('a job that was never claimed has no current phase afterwards either', () => {
    expect(carryOver(newborn(), ['other'], 2, 0)).toMatchObject({ currentPhase: null, phaseIndex: 0, progress: 0 });
  });

  test('leaves the old record as it was', () => {
    const before = twoDone();
    const copy = structuredClone(before);
    carryOver(before, ['download', 'crop'], 7, 1);
    expect(before).toEqual(copy);
  });

  test('the job runs to its end under the new list', () => {
    const phases = ['download', 'crop', 'upload'];
    const chart = createJobChart({ pipeline: 'thumbs', phases: phases.map((name) => ({ name, timeoutMs: null })) });
    const rested = jobAfter(newborn(), claimed, phaseCompleted, released);
    const actor = new JobActor(chart, carryOver(rested, phases, 2, 1));
    expect(actor.send(claimed)?.transition?.to).toBe('active.crop');
    expect(actor.send(phaseCompleted)?.transition?.to).toBe('active.upload');
    expect(actor.send(phaseCompleted)?.job).toMatchObject({
      status: 'completed',
      progress: 100,
      phaseResults: { download: 'r', crop: 'r', upload: 'r' },
    });
  });
});
