/**
 * Under which names a transition is told to the world. A function of the log entry alone, so that a
 * live event and one replayed from the log years later have the same name.
 */
import type { JobEventName, TransitionRecord } from './vocabulary.ts';

const BY_STATUS: Readonly<Record<string, JobEventName>> = {
  retrying: 'job:retrying',
  failed: 'job:failed',
  completed: 'job:completed',
  cancelled: 'job:cancelled',
  paused: 'job:paused',
  stale: 'job:stale',
  deleted: 'job:deleted',
};

const BY_EVENT: Readonly<Record<string, JobEventName>> = {
  born: 'job:enqueued',
  retry: 'job:enqueued',
  claimed: 'job:started',
  resume: 'job:resumed',
  released: 'job:released',
  blockersClosed: 'job:unblocked',
};

/** The names, in the order they are told: a finished phase before the finished job. */
export function announcementsOf({ event, to }: Pick<TransitionRecord, 'event' | 'to'>): readonly JobEventName[] {
  const end = BY_STATUS[to] ?? BY_EVENT[event];
  if (event === 'phaseCompleted') return end ? ['job:phase:completed', end] : ['job:phase:completed'];
  return end ? [end] : [];
}
