/** Jobs in every state, each brought there by the statechart itself. */
import { type Birth, born, createJobChart, JobActor, type Step } from '../../../src/actors/job-actor.ts';
import type { JobEvent, JobEventOf } from '../../../src/actors/job-events.ts';
import type { JobRecord, JobStatus } from '../../../src/actors/vocabulary.ts';

export const T0 = 1_700_000_000_000;

export const chart = createJobChart({
  pipeline: 'thumbs',
  phases: [
    { name: 'download', timeoutMs: null },
    { name: 'resize', timeoutMs: 1_000 },
    { name: 'upload', timeoutMs: null },
  ],
});

export const FAILURE = { name: 'Error', message: 'no route', code: 'EHOSTUNREACH' };

/** One event of each kind, as it usually comes. */
export const events: { readonly [T in JobEvent['type']]: JobEventOf<T> } = {
  claimed: { type: 'claimed', at: T0 + 10, owner: 'runtime-1', leaseExpiresAt: T0 + 30_010 },
  phaseStarted: { type: 'phaseStarted', at: T0 + 15, beginsAttempt: false },
  progressed: { type: 'progressed', at: T0 + 20, progress: 50, message: 'half' },
  phaseCompleted: { type: 'phaseCompleted', at: T0 + 30, result: 'r' },
  phaseFailed: { type: 'phaseFailed', at: T0 + 40, failure: FAILURE, disposition: 'recoverable', retryAt: T0 + 500 },
  interrupted: { type: 'interrupted', at: T0 + 50, failure: FAILURE, retryAt: T0 + 600 },
  released: { type: 'released', at: T0 + 60 },
  blockersClosed: { type: 'blockersClosed', at: T0 + 70 },
  abandoned: { type: 'abandoned', at: T0 + 80, failure: FAILURE },
  cancel: { type: 'cancel', at: T0 + 90, reason: 'not wanted' },
  pause: { type: 'pause', at: T0 + 100, reason: 'lunch' },
  resume: { type: 'resume', at: T0 + 110 },
  complete: { type: 'complete', at: T0 + 120, result: 'outside' },
  retry: { type: 'retry', at: T0 + 130 },
  markStale: { type: 'markStale', at: T0 + 140 },
  delete: { type: 'delete', at: T0 + 150 },
  webhookDelivered: { type: 'webhookDelivered', at: T0 + 160 },
};

export const fatal: JobEvent = { ...events.phaseFailed, disposition: 'fatal' };

export function newborn(birth: Partial<Birth> = {}): JobRecord {
  return born(chart, {
    id: 'job',
    pipeline: 'thumbs',
    data: { url: 'a' },
    priority: 0,
    maxAttempts: 3,
    scheduledAt: T0,
    expiresAt: null,
    timeoutMs: null,
    webhookUrl: null,
    createdAt: T0,
    machineVersion: 1,
    ...birth,
  }).job;
}

/** What the last of these events did; throws if one of them is refused. */
export function step(job: JobRecord, ...list: readonly JobEvent[]): Step {
  const actor = new JobActor(chart, job);
  let last: Step | null = null;
  for (const event of list) {
    last = actor.send(event);
    if (!last) throw new Error(`A job that is ${actor.job.status} refuses "${event.type}".`);
  }
  if (!last) throw new Error('No events were given.');
  return last;
}

export function jobAfter(job: JobRecord, ...list: readonly JobEvent[]): JobRecord {
  return list.length === 0 ? job : step(job, ...list).job;
}

const { claimed, phaseFailed, pause, complete, cancel, markStale } = events;

const histories: Readonly<Record<Exclude<JobStatus, 'blocked'>, readonly JobEvent[]>> = {
  pending: [],
  active: [claimed],
  retrying: [claimed, phaseFailed],
  paused: [pause],
  completed: [complete],
  failed: [claimed, fatal],
  cancelled: [cancel],
  stale: [cancel, markStale],
  deleted: [cancel, markStale, events.delete],
};

/** A job in this state. No job is born blocked yet, so that one is made by hand. */
export function jobThatIs(status: JobStatus): JobRecord {
  return status === 'blocked' ? { ...newborn(), status } : jobAfter(newborn(), ...histories[status]);
}
