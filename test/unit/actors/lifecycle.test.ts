/** What each event does to the facts of a job. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { JobActor } from '../../../src/actors/job-actor.ts';
import type { JobEvent } from '../../../src/actors/job-events.ts';
import { overallProgress } from '../../../src/actors/lifecycle.ts';
import type { JobRecord } from '../../../src/actors/vocabulary.ts';
import { chart, events, FAILURE, fatal, jobAfter, jobThatIs, newborn, T0 } from './jobs.ts';

const {
  claimed,
  phaseStarted,
  progressed,
  phaseCompleted,
  phaseFailed,
  interrupted,
  released,
  abandoned,
  cancel,
  pause,
  resume,
  complete,
  retry,
  markStale,
} = events;

const NO_LEASE = { leaseOwner: null, leaseExpiresAt: null, timeoutAt: null };
const statuses = (job: JobRecord) => job.phases.map(({ status }) => status).join(' ');
/** Has finished `download` and is in the middle of `resize`. */
const halfway = () => jobAfter(newborn(), claimed, phaseCompleted, progressed);

describe('overall progress', () => {
  test.each([
    [0, 0, 1, 0],
    [0, 50, 1, 50],
    [0, 100, 1, 100],
    [0, 0, 3, 0],
    [0, 50, 3, 17],
    [0, 100, 3, 33],
    [1, 0, 3, 33],
    [1, 50, 3, 50],
    [2, 0, 3, 67],
    [2, 99, 3, 100],
    [3, 0, 3, 100],
    [3, 50, 8, 44],
    [0, 1, 100, 0],
  ])('phase %i at %i%% of %i phases is %i%%', (index, percent, total, overall) => {
    expect(overallProgress(index, percent, total)).toBe(overall);
  });

  test('it is a whole number from 0 to 100', () => {
    const places = fc
      .integer({ min: 1, max: 50 })
      .chain((total) =>
        fc.tuple(
          fc.integer({ min: 0, max: total - 1 }),
          fc.double({ min: 0, max: 100, noNaN: true }),
          fc.constant(total),
        ),
      );
    fc.assert(
      fc.property(places, ([index, percent, total]) => {
        const overall = overallProgress(index, percent, total);
        return Number.isInteger(overall) && overall >= 0 && overall <= 100;
      }),
    );
  });

  test('while a job is active it agrees with what its phases say, whatever happened before', () => {
    const happenings = fc.array(
      fc.constantFrom<JobEvent>(
        claimed,
        progressed,
        phaseStarted,
        phaseCompleted,
        phaseFailed,
        interrupted,
        released,
        pause,
        resume,
        retry,
      ),
      { maxLength: 30 },
    );
    fc.assert(
      fc.property(happenings, (list) => {
        const actor = new JobActor(chart, newborn());
        for (const event of list) {
          actor.send(event);
          const { status, progress, phaseIndex, phases } = actor.job;
          if (status !== 'active') continue;
          expect(progress).toBe(overallProgress(phaseIndex, phases[phaseIndex]!.progress, phases.length));
        }
      }),
      { examples: [[[claimed, progressed, phaseFailed, claimed]]] },
    );
  });
});

describe('claimed', () => {
  test('takes a lease, a fence and an attempt, and begins the phase', () => {
    const job = jobAfter(newborn(), claimed);
    expect(job).toMatchObject({
      attempt: 1,
      fence: 1,
      leaseOwner: 'runtime-1',
      leaseExpiresAt: T0 + 30_010,
      startedAt: T0 + 10,
      attemptAt: T0 + 10,
      currentPhase: 'download',
      timeoutAt: null,
    });
    expect(job.phases[0]).toMatchObject({ status: 'active', startedAt: T0 + 10, progress: 0 });
    expect(statuses(job)).toBe('active pending pending');
  });

  test('a second time keeps the first start and what was finished', () => {
    const job = jobAfter(halfway(), phaseFailed, { ...claimed, at: T0 + 900 });
    expect(job).toMatchObject({ attempt: 2, fence: 2, startedAt: T0 + 10, attemptAt: T0 + 900 });
    expect(job.phaseResults).toEqual({ download: 'r' });
    expect(job.phases[1]).toMatchObject({ status: 'active', progress: 0, message: null, startedAt: T0 + 900 });
    expect(statuses(job)).toBe('completed active pending');
  });
});

describe('limits', () => {
  test('a phase ends after its own limit, counted from its start', () => {
    expect(jobAfter(newborn(), claimed, phaseCompleted).timeoutAt).toBe(T0 + 30 + 1_000);
  });

  test("the job's limit counts from the start of the attempt", () => {
    const job = newborn({ timeoutMs: 5_000 });
    expect(jobAfter(job, claimed).timeoutAt).toBe(T0 + 10 + 5_000);
    expect(jobAfter(job, claimed, phaseCompleted, phaseCompleted).timeoutAt).toBe(T0 + 10 + 5_000);
    expect(jobAfter(job, claimed, phaseFailed, { ...claimed, at: T0 + 700 }).timeoutAt).toBe(T0 + 700 + 5_000);
  });

  test('the earlier limit counts', () => {
    expect(jobAfter(newborn({ timeoutMs: 200 }), claimed, phaseCompleted).timeoutAt).toBe(T0 + 10 + 200);
    expect(jobAfter(newborn({ timeoutMs: 5_000 }), claimed, phaseCompleted).timeoutAt).toBe(T0 + 30 + 1_000);
  });

  test('a phase that had to wait for its lane has its limit from when it begins', () => {
    const job = jobAfter(newborn(), claimed, phaseCompleted, { ...phaseStarted, at: T0 + 400 });
    expect(job.timeoutAt).toBe(T0 + 400 + 1_000);
    expect(job.phases[1]?.startedAt).toBe(T0 + 400);
  });

  test('waiting for a lane does not lengthen the limit of the job', () => {
    const job = jobAfter(newborn({ timeoutMs: 200 }), claimed, phaseCompleted, { ...phaseStarted, at: T0 + 150 });
    expect(job.timeoutAt).toBe(T0 + 10 + 200);
  });
});

describe('progressed', () => {
  test('updates the phase and the whole', () => {
    const job = halfway();
    expect(job).toMatchObject({ progress: 50, progressMessage: 'half' });
    expect(job.phases[1]).toMatchObject({ progress: 50, message: 'half' });
  });
});

describe('phaseCompleted', () => {
  test('stores the result and begins the next phase under the same lease', () => {
    const before = jobAfter(newborn(), claimed);
    const job = jobAfter(before, phaseCompleted);
    expect(job).toMatchObject({
      phaseIndex: 1,
      currentPhase: 'resize',
      phaseResults: { download: 'r' },
      progress: 33,
      attempt: 1,
      fence: 1,
      leaseOwner: before.leaseOwner,
      leaseExpiresAt: before.leaseExpiresAt,
      finishedAt: null,
    });
    expect(job.phases[0]).toMatchObject({ status: 'completed', progress: 100, completedAt: T0 + 30 });
    expect(statuses(job)).toBe('completed active pending');
  });

  test('clears the error of a phase that failed before', () => {
    const job = jobAfter(newborn(), claimed, phaseFailed, claimed, phaseCompleted);
    expect(job.phases[0]?.error).toBeNull();
  });

  test('of the last phase ends the job and gives the lease back', () => {
    const job = jobAfter(newborn(), claimed, phaseFailed, claimed, phaseCompleted, phaseCompleted, phaseCompleted);
    expect(job).toMatchObject({ ...NO_LEASE, phaseIndex: 3, progress: 100, finishedAt: T0 + 30, error: null });
    expect(statuses(job)).toBe('completed completed completed');
    expect(Object.keys(job.phaseResults)).toEqual(['download', 'resize', 'upload']);
  });

  test.each([null, 0, '', false])('keeps the result %j', (result) => {
    expect(jobAfter(newborn(), claimed, { ...phaseCompleted, result }).phaseResults).toEqual({ download: result });
  });

  test('without a result leaves none', () => {
    const job = jobAfter(newborn(), claimed, { ...phaseCompleted, result: undefined });
    expect(job.phaseResults).toEqual({});
  });
});

describe('phaseFailed and interrupted', () => {
  for (const [event, retryAt] of [
    [phaseFailed, T0 + 500],
    [interrupted, T0 + 600],
  ] as const) {
    test(`${event.type} gives the lease back, keeps what was finished and stores when to try again`, () => {
      const job = jobAfter(halfway(), event);
      expect(job).toMatchObject({
        ...NO_LEASE,
        attempt: 1,
        fence: 1,
        phaseIndex: 1,
        scheduledAt: retryAt,
        finishedAt: null,
        phaseResults: { download: 'r' },
        error: { ...FAILURE, phase: 'resize' },
      });
      expect(job.phases[1]).toMatchObject({ status: 'failed', error: 'no route' });
      expect(statuses(job)).toBe('completed failed pending');
    });
  }

  test('the end has a time and keeps the old schedule', () => {
    const job = jobAfter(halfway(), fatal);
    expect(job).toMatchObject({ ...NO_LEASE, finishedAt: T0 + 40, scheduledAt: T0, error: { phase: 'resize' } });
  });

  test('a job abandoned before its first claim fails without a phase to blame', () => {
    const job = jobAfter(newborn(), abandoned);
    expect(job).toMatchObject({ ...NO_LEASE, finishedAt: T0 + 80, attempt: 0, error: FAILURE });
    expect(job.error).not.toHaveProperty('phase');
  });
});

describe('released and paused', () => {
  for (const event of [released, pause]) {
    test(`${event.type} gives the attempt and the lease back, and the phase begins anew`, () => {
      const job = jobAfter(halfway(), event);
      expect(job).toMatchObject({
        ...NO_LEASE,
        attempt: 0,
        fence: 1,
        phaseIndex: 1,
        progress: 33,
        phaseResults: { download: 'r' },
        finishedAt: null,
        startedAt: T0 + 10,
      });
      expect(job.phases[1]).toEqual({
        name: 'resize',
        status: 'pending',
        progress: 0,
        message: null,
        startedAt: null,
        completedAt: null,
        error: null,
        blobs: 0,
        usage: null,
      });
    });
  }

  test('pausing at rest takes no attempt away', () => {
    const job = jobAfter(jobThatIs('retrying'), pause);
    expect(job).toMatchObject({ attempt: 1, reason: 'lunch', scheduledAt: T0 + 500 });
  });

  test('resuming clears the reason and keeps the schedule', () => {
    expect(jobAfter(jobThatIs('retrying'), pause, resume)).toMatchObject({ reason: null, scheduledAt: T0 + 500 });
  });
});

describe('cancel', () => {
  test('marks every unfinished phase and keeps the finished ones', () => {
    const job = jobAfter(halfway(), cancel);
    expect(statuses(job)).toBe('completed cancelled cancelled');
    expect(job).toMatchObject({
      ...NO_LEASE,
      finishedAt: T0 + 90,
      reason: 'not wanted',
      attempt: 1,
      phaseResults: { download: 'r' },
    });
  });

  test('marks a failed phase too', () => {
    expect(statuses(jobAfter(halfway(), phaseFailed, cancel))).toBe('completed cancelled cancelled');
  });

  test('of a job nobody has touched marks all phases', () => {
    expect(statuses(jobAfter(newborn(), cancel))).toBe('cancelled cancelled cancelled');
  });
});

describe('complete', () => {
  test("takes the result as the last phase's and skips what was unfinished", () => {
    const job = jobAfter(halfway(), complete);
    expect(statuses(job)).toBe('completed skipped skipped');
    expect(job).toMatchObject({
      ...NO_LEASE,
      phaseIndex: 3,
      progress: 100,
      finishedAt: T0 + 120,
      error: null,
      reason: null,
      phaseResults: { download: 'r', upload: 'outside' },
    });
  });

  test('clears an earlier failure and the reason of a pause', () => {
    expect(jobAfter(halfway(), phaseFailed, pause, complete)).toMatchObject({ error: null, reason: null });
  });
});

describe('retry', () => {
  for (const [how, history] of [
    ['failed', [fatal]],
    ['cancelled', [cancel]],
    ['stale', [cancel, markStale]],
    ['paused', [pause]],
  ] as const) {
    test(`of a ${how} job resets the attempts, keeps the results and runs the unfinished phases`, () => {
      const job = jobAfter(halfway(), ...history, retry);
      expect(job).toMatchObject({
        ...NO_LEASE,
        status: 'pending',
        attempt: 0,
        fence: 1,
        phaseIndex: 1,
        phaseResults: { download: 'r' },
        error: null,
        reason: null,
        scheduledAt: T0 + 130,
        expiresAt: null,
        finishedAt: null,
        staleAt: null,
        progress: 33,
        progressMessage: null,
      });
      expect(statuses(job)).toBe('completed pending pending');
      expect(job.phases[1]?.error).toBeNull();
    });
  }

  test('gives all attempts anew', () => {
    const job = jobAfter(newborn({ maxAttempts: 2 }), claimed, phaseFailed, claimed, phaseFailed, retry, claimed);
    expect(job.attempt).toBe(1);
    expect(jobAfter(job, phaseFailed).status).toBe('retrying');
  });
});

describe('retention', () => {
  test('marking stale keeps everything but the time', () => {
    const before = jobAfter(halfway(), cancel);
    expect(jobAfter(before, markStale)).toEqual({
      ...before,
      status: 'stale',
      staleAt: T0 + 140,
      updatedAt: T0 + 140,
      seq: before.seq + 1,
    });
  });
});

test('no event changes the record it was judged from', () => {
  for (const status of ['pending', 'active', 'retrying', 'paused', 'failed', 'cancelled', 'stale'] as const) {
    for (const event of Object.values(events)) {
      const job = jobThatIs(status);
      const copy = structuredClone(job);
      new JobActor(chart, job).send(event);
      expect(job).toEqual(copy);
    }
  }
});

test('an actor activated from a record judges like the one that was dropped', () => {
  const happenings = fc.array(fc.constantFrom<JobEvent>(...Object.values(events), fatal), { maxLength: 25 });
  fc.assert(
    fc.property(happenings, (list) => {
      const living = new JobActor(chart, newborn());
      for (const event of list) {
        const stored = JSON.parse(JSON.stringify(living.job)) as JobRecord;
        expect(new JobActor(chart, stored).send(event)).toEqual(living.send(event));
      }
    }),
  );
});
