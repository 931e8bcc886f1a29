/** The table of docs and design, row by row; whatever is not in it is refused. */
import { describe, expect, test } from 'vitest';
import { allowedActions, born, createJobChart, JobActor } from '../../../src/actors/job-actor.ts';
import type { JobEvent } from '../../../src/actors/job-events.ts';
import { stateOf } from '../../../src/actors/job-logic.ts';
import { JOB_STATUSES, type JobRecord, type JobStatus } from '../../../src/actors/vocabulary.ts';
import { chart, events, fatal, jobAfter, jobThatIs, newborn, step, T0 } from './jobs.ts';

type EventType = JobEvent['type'];
type Row = readonly [from: readonly JobStatus[], event: EventType, to: string];

const UNFINISHED = ['blocked', 'pending', 'retrying', 'active', 'paused'] as const;

const table: readonly Row[] = [
  [['blocked'], 'blockersClosed', 'pending'],
  [['pending', 'retrying'], 'claimed', 'active.download'],
  [['active'], 'phaseCompleted', 'active.resize'],
  [['active'], 'phaseFailed', 'retrying'],
  [['active'], 'interrupted', 'retrying'],
  [['active'], 'released', 'pending'],
  [UNFINISHED, 'cancel', 'cancelled'],
  [['pending', 'retrying', 'active'], 'pause', 'paused'],
  [['paused'], 'resume', 'pending'],
  [UNFINISHED, 'complete', 'completed'],
  [['failed', 'cancelled', 'stale', 'paused'], 'retry', 'pending'],
  [['completed', 'failed', 'cancelled'], 'markStale', 'stale'],
  [['stale'], 'delete', 'deleted'],
  [UNFINISHED, 'abandoned', 'failed'],
];

/** These change the record, but neither the state nor the log. */
const quiet: readonly EventType[] = ['phaseStarted', 'progressed'];

const isInTable = (status: JobStatus, type: EventType) =>
  table.some(([from, event]) => event === type && from.includes(status)) ||
  (status === 'active' && quiet.includes(type)) ||
  (status !== 'deleted' && type === 'webhookDelivered');

const types = Object.keys(events) as EventType[];

describe('the table', () => {
  for (const [from, type, to] of table) {
    for (const status of from) {
      test(`${status} + ${type} → ${to}`, () => {
        const job = jobThatIs(status);
        const { job: next, transition } = step(job, events[type]);
        expect(stateOf(next)).toBe(to);
        expect(next).toMatchObject({ seq: job.seq + 1, updatedAt: events[type].at });
        expect(transition).toMatchObject({
          jobId: 'job',
          pipeline: 'thumbs',
          seq: job.seq + 1,
          from: stateOf(job),
          to,
          event: type,
          at: events[type].at,
        });
      });
    }
  }

  test('a job is born pending, with transition 0', () => {
    const { job, transition } = born(chart, newborn());
    expect(job).toMatchObject({ status: 'pending', seq: 0, fence: 0, attempt: 0 });
    expect(transition).toMatchObject({ seq: 0, from: null, to: 'pending', event: 'born', at: T0, error: null });
  });

  test('each phase leads to the next, and the last one to the end', () => {
    const { claimed, phaseCompleted } = events;
    const states = [1, 2, 3].map((n) => stateOf(jobAfter(newborn(), claimed, ...Array(n).fill(phaseCompleted))));
    expect(states).toEqual(['active.resize', 'active.upload', 'completed']);
  });

  test('a pipeline of one phase ends with it', () => {
    const single = createJobChart({ pipeline: 'mail', phases: [{ name: 'send', timeoutMs: null }] });
    const actor = new JobActor(single, born(single, { ...newborn(), pipeline: 'mail' }).job);
    expect(actor.send(events.claimed)?.transition?.to).toBe('active.send');
    expect(actor.send(events.phaseCompleted)?.transition?.to).toBe('completed');
  });

  test('active has one child state per phase', () => {
    expect(Object.keys(chart.machine.states.active?.states ?? {})).toEqual(['download', 'resize', 'upload']);
  });

  test('the top-level states are the statuses', () => {
    expect(Object.keys(chart.machine.states).sort()).toEqual([...JOB_STATUSES].sort());
  });
});

describe('a webhook that has arrived', () => {
  for (const status of JOB_STATUSES.filter((each) => each !== 'deleted')) {
    test(`is noted by a job that is ${status}, without a transition`, () => {
      const job = jobThatIs(status);
      const { job: next, transition, effects } = step(job, events.webhookDelivered);
      expect(next).toEqual({ ...job, webhookSent: true, updatedAt: T0 + 160 });
      expect(transition).toBeNull();
      expect(effects).toEqual([]);
    });
  }
});

describe('what is not in the table', () => {
  for (const status of JOB_STATUSES) {
    for (const type of types.filter((name) => !isInTable(status, name))) {
      test(`${status} refuses ${type}`, () => {
        const job = jobThatIs(status);
        const actor = new JobActor(chart, job);
        expect(actor.send(events[type])).toBeNull();
        expect(actor.job).toBe(job);
      });
    }
  }

  test('an actor that has refused an event goes on as before', () => {
    const actor = new JobActor(chart, newborn());
    expect(actor.send(events.resume)).toBeNull();
    expect(actor.send(events.claimed)?.job).toMatchObject({ status: 'active', seq: 1 });
  });

  test('a second cancel is refused, so that it cannot be announced twice', () => {
    const actor = new JobActor(chart, newborn());
    expect(actor.send(events.cancel)).not.toBeNull();
    expect(actor.send(events.cancel)).toBeNull();
  });
});

describe('quiet events', () => {
  for (const type of quiet) {
    test(`${type} changes the record, but neither state, number nor log`, () => {
      const job = jobThatIs('active');
      const { job: next, transition } = step(job, events[type]);
      expect(transition).toBeNull();
      expect(stateOf(next)).toBe(stateOf(job));
      expect(next).toMatchObject({ seq: job.seq, updatedAt: events[type].at });
    });
  }
});

describe('guards', () => {
  const { claimed, phaseFailed, interrupted, phaseCompleted, complete, markStale, retry, released } = events;
  const lastAttempt = (maxAttempts: number): JobRecord => {
    let job = newborn({ maxAttempts });
    for (let attempt = 1; attempt < maxAttempts; attempt++) job = jobAfter(job, claimed, phaseFailed);
    return jobAfter(job, claimed);
  };

  for (const maxAttempts of [1, 2, 5]) {
    test(`a recoverable failure of attempt ${maxAttempts} of ${maxAttempts} is the end`, () => {
      expect(jobAfter(lastAttempt(maxAttempts), phaseFailed).status).toBe('failed');
    });

    test(`an interruption of attempt ${maxAttempts} of ${maxAttempts} is the end`, () => {
      expect(jobAfter(lastAttempt(maxAttempts), interrupted).status).toBe('failed');
    });
  }

  test('the attempt before the last one is tried again', () => {
    const job = jobAfter(newborn({ maxAttempts: 3 }), claimed, phaseFailed, claimed);
    expect(job.attempt).toBe(2);
    expect(jobAfter(job, phaseFailed).status).toBe('retrying');
    expect(jobAfter(job, interrupted).status).toBe('retrying');
  });

  test('a fatal failure is the end, however many attempts are left', () => {
    expect(jobAfter(newborn({ maxAttempts: 99 }), claimed, fatal).status).toBe('failed');
  });

  test('a released attempt does not count', () => {
    const job = jobAfter(newborn({ maxAttempts: 1 }), claimed, released, claimed, released, claimed);
    expect(job).toMatchObject({ attempt: 1, fence: 3 });
  });

  test('a claim begins with the first unfinished phase', () => {
    const job = jobAfter(newborn(), claimed, phaseCompleted, phaseFailed);
    expect(stateOf(jobAfter(job, claimed))).toBe('active.resize');
    expect(stateOf(jobAfter(newborn(), claimed, phaseCompleted, phaseCompleted, released, claimed))).toBe(
      'active.upload',
    );
  });

  const nothingLeft: readonly [how: string, history: readonly JobEvent[]][] = [
    ['completed by its phases', [claimed, phaseCompleted, phaseCompleted, phaseCompleted]],
    ['completed from outside', [complete]],
  ];
  for (const [how, history] of nothingLeft) {
    test(`a job ${how} that went stale refuses a retry: nothing is left to run`, () => {
      const job = jobAfter(newborn(), ...history, markStale);
      expect(new JobActor(chart, job).send(retry)).toBeNull();
      expect(allowedActions(chart, job)).toEqual([]);
    });
  }
});

describe('effects', () => {
  const wishes: readonly [status: JobStatus, event: JobEvent, effects: readonly unknown[]][] = [
    ['pending', events.claimed, [{ type: 'runPhase' }]],
    ['retrying', events.claimed, [{ type: 'runPhase' }]],
    ['active', events.phaseStarted, []],
    ['active', events.phaseCompleted, [{ type: 'runPhase' }]],
    ['active', events.progressed, []],
    ['active', events.interrupted, [{ type: 'stopPhase', reason: 'taken_by_another_worker' }]],
    ['active', events.released, [{ type: 'stopPhase', reason: 'shutdown' }]],
    ['active', events.pause, [{ type: 'stopPhase', reason: 'paused' }]],
    ['active', events.cancel, [{ type: 'stopPhase', reason: 'cancelled' }]],
    ['active', events.complete, [{ type: 'stopPhase', reason: 'already_completed' }]],
    ['active', events.abandoned, [{ type: 'stopPhase', reason: 'abandoned' }]],
    ['pending', events.cancel, []],
    ['pending', events.pause, []],
    ['paused', events.resume, []],
    ['retrying', events.complete, []],
    ['failed', events.retry, []],
  ];
  for (const [status, event, effects] of wishes) {
    const wish = effects.length > 0 ? JSON.stringify(effects) : 'nothing';
    test(`${status} + ${event.type} wishes for ${wish}`, () => {
      expect(step(jobThatIs(status), event).effects).toEqual(effects);
    });
  }

  test('the last phase wishes for nothing more', () => {
    const { claimed, phaseCompleted } = events;
    expect(step(newborn(), claimed, phaseCompleted, phaseCompleted, phaseCompleted).effects).toEqual([]);
  });

  test('each event has effects of its own', () => {
    const actor = new JobActor(chart, newborn());
    const first = actor.send(events.claimed)?.effects;
    const second = actor.send(events.progressed)?.effects;
    expect(first).toEqual([{ type: 'runPhase' }]);
    expect(second).toEqual([]);
  });
});

describe('what a person may do', () => {
  const actions: Readonly<Record<JobStatus, readonly string[]>> = {
    blocked: ['cancel', 'complete'],
    pending: ['cancel', 'pause', 'complete'],
    active: ['cancel', 'pause', 'complete'],
    retrying: ['cancel', 'pause', 'complete'],
    paused: ['cancel', 'resume', 'retry', 'complete'],
    completed: [],
    failed: ['retry'],
    cancelled: ['retry'],
    stale: ['retry'],
    deleted: [],
  };
  for (const status of JOB_STATUSES) {
    test(`with a job that is ${status}: ${actions[status].join(', ') || 'nothing'}`, () => {
      expect(allowedActions(chart, jobThatIs(status))).toEqual(actions[status]);
    });
  }
});

describe('log entries', () => {
  const { claimed, phaseCompleted, phaseFailed, interrupted, abandoned, pause, cancel } = events;

  test('they name the phase that was running, or the one that begins', () => {
    expect(step(newborn(), claimed).transition?.phase).toBe('download');
    expect(step(newborn(), claimed, phaseCompleted).transition?.phase).toBe('download');
    expect(step(newborn(), claimed, phaseCompleted, phaseFailed).transition?.phase).toBe('resize');
    expect(step(newborn(), cancel).transition?.phase).toBeNull();
  });

  for (const event of [phaseFailed, fatal, interrupted, abandoned]) {
    test(`${event.type} (${'disposition' in event ? event.disposition : 'whatever'}) carries its failure`, () => {
      const { job, transition } = step(newborn(), claimed, event);
      expect(transition?.error).toMatchObject({ message: 'no route', code: 'EHOSTUNREACH', phase: 'download' });
      expect(transition?.error).toEqual(job.error);
    });
  }

  test('entries that are no failures carry none, whatever the job has been through', () => {
    expect(step(newborn(), claimed, phaseFailed, pause).transition?.error).toBeNull();
    expect(step(newborn(), claimed, phaseFailed, cancel).transition?.error).toBeNull();
  });
});

test('data that looks like one of XState’s own references stays as it is', () => {
  const data = { looksLike: { xstate$$type: 1, id: 'nobody' } };
  const { job } = step({ ...newborn(), data }, events.claimed);
  expect(job.data).toEqual({ looksLike: { xstate$$type: 1, id: 'nobody' } });
});

test('an event that cannot be judged throws where it was sent, every time', () => {
  const actor = new JobActor(chart, { ...newborn(), phases: null as never });
  expect(() => actor.send(events.claimed)).toThrow(TypeError);
  expect(() => actor.send(events.claimed)).toThrow(TypeError);
});
