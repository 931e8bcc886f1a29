/** Under which names transitions are told. */
import { describe, expect, test } from 'vitest';
import { announcementsOf } from '../../../src/actors/announcements.ts';
import { JobActor } from '../../../src/actors/job-actor.ts';
import type { JobEvent } from '../../../src/actors/job-events.ts';
import { JOB_EVENT_NAMES, JOB_STATUSES } from '../../../src/actors/vocabulary.ts';
import { chart, events, fatal, jobThatIs, newborn, step } from './jobs.ts';

const told: readonly [event: string, to: string, names: readonly string[]][] = [
  ['born', 'pending', ['job:enqueued']],
  ['blockersClosed', 'pending', ['job:unblocked']],
  ['claimed', 'active.download', ['job:started']],
  ['phaseCompleted', 'active.resize', ['job:phase:completed']],
  ['phaseCompleted', 'completed', ['job:phase:completed', 'job:completed']],
  ['phaseFailed', 'retrying', ['job:retrying']],
  ['phaseFailed', 'failed', ['job:failed']],
  ['interrupted', 'retrying', ['job:retrying']],
  ['interrupted', 'failed', ['job:failed']],
  ['abandoned', 'failed', ['job:failed']],
  ['released', 'pending', ['job:released']],
  ['cancel', 'cancelled', ['job:cancelled']],
  ['pause', 'paused', ['job:paused']],
  ['resume', 'pending', ['job:resumed']],
  ['complete', 'completed', ['job:completed']],
  ['retry', 'pending', ['job:enqueued']],
  ['markStale', 'stale', ['job:stale']],
  ['delete', 'deleted', ['job:deleted']],
];

describe('a transition is told by name', () => {
  for (const [event, to, names] of told) {
    test(`${event} → ${to} is told as ${names.join(', then ')}`, () => {
      expect(announcementsOf({ event, to })).toEqual(names);
    });
  }
});

test('every transition the statechart can make is told, under known names', () => {
  const made: string[] = [];
  for (const status of JOB_STATUSES) {
    for (const event of [...Object.values(events), fatal] as JobEvent[]) {
      const transition = new JobActor(chart, jobThatIs(status)).send(event)?.transition;
      if (!transition) continue;
      const names = announcementsOf(transition);
      expect(names.length).toBeGreaterThan(0);
      for (const name of names) expect(JOB_EVENT_NAMES).toContain(name);
      made.push(`${transition.event} ${transition.to.split('.')[0]}`);
    }
  }
  const listed = told.map(([event, to]) => `${event} ${to.split('.')[0]}`);
  for (const transition of made) expect(listed).toContain(transition);
});

test('names of phases are never taken for names of states', () => {
  expect(announcementsOf({ event: 'claimed', to: 'active.failed' })).toEqual(['job:started']);
  expect(announcementsOf({ event: 'phaseCompleted', to: 'active.completed' })).toEqual(['job:phase:completed']);
});

test('a live transition has the names its log entry gives', () => {
  const { transition } = step(newborn(), events.claimed, events.phaseFailed);
  const replayed = JSON.parse(JSON.stringify(transition)) as NonNullable<typeof transition>;
  expect(announcementsOf(replayed)).toEqual(announcementsOf(transition!));
});
