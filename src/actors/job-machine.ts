/**
 * THE statechart: the life of a job, generated from a pipeline's phases so that `active` has one child
 * state per phase. Pure: no clock, no ids, no I/O, no `after`, no `invoke`, no `spawn`; time and chance arrive
 * inside events, and actions only describe effects. Facts change in `lifecycle.ts`, questions live in `guards.ts`.
 */
import { assign, setup } from 'xstate';
import * as guards from './guards.ts';
import type { JobEvent, JobEventOf } from './job-events.ts';
import { isQuiet } from './job-events.ts';
import type { JobFacts } from './lifecycle.ts';
import * as lifecycle from './lifecycle.ts';
import type { PhaseSpec, StopReason } from './vocabulary.ts';

/** What a machine is made from. */
export interface MachineSpec {
  readonly pipeline: string;
  readonly phases: readonly PhaseSpec[];
}

/** The facts in one piece: XState copies a context key by key, and would lose the record's shape, on which V8's speed depends. */
export interface JobContext {
  readonly job: JobFacts;
}

/** A machine for one pipeline. */
export type JobMachine = ReturnType<typeof createJobMachine>;

/** Generates the statechart of one pipeline. */
export function createJobMachine({ pipeline, phases }: MachineSpec) {
  /** An `assign` that applies one lifecycle function and numbers the transition. */
  function record<T extends JobEvent['type']>(
    change: (job: JobFacts, event: JobEventOf<T>, specs: readonly PhaseSpec[]) => Partial<JobFacts>,
  ) {
    return assign<JobContext, JobEvent, undefined, JobEvent, never>(({ context: { job }, event }) => ({
      job: {
        ...job,
        updatedAt: event.at,
        seq: isQuiet(event.type) ? job.seq : job.seq + 1,
        ...change(job, event as JobEventOf<T>, phases),
      },
    }));
  }

  const machine = setup({
    types: {} as { context: JobContext; events: JobEvent; input: JobFacts },
    guards: {
      isNextPhase: ({ context }, { index }: { index: number }) => guards.isNextPhase(context.job, index),
      attemptsLeft: ({ context }) => guards.attemptsLeft(context.job),
      mayRetry: ({ context, event }) => guards.mayRetry(context.job, event as JobEventOf<'phaseFailed'>),
      hasUnfinishedPhases: ({ context }) => guards.hasUnfinishedPhases(context.job),
    },
    actions: {
      // Wishes: the job's actor takes them down instead of doing them (effects.ts).
      runPhase: () => {},
      stopPhase: (_, _params: { reason: StopReason }) => {},
      claimed: record(lifecycle.claimed),
      phaseStarted: record(lifecycle.phaseStarted),
      progressed: record(lifecycle.progressed),
      phaseCompleted: record(lifecycle.phaseCompleted),
      willRetry: record(lifecycle.willRetry),
      gaveUp: record(lifecycle.gaveUp),
      released: record(lifecycle.released),
      pausedAtRest: record(lifecycle.pausedAtRest),
      pausedWhileActive: record(lifecycle.pausedWhileActive),
      resumed: record(lifecycle.resumed),
      cancelled: record(lifecycle.cancelled),
      completedOutside: record(lifecycle.completedOutside),
      retried: record(lifecycle.retried),
      markedStale: record(lifecycle.markedStale),
      webhookDelivered: record(lifecycle.webhookDelivered),
      noted: record(() => ({})),
    },
  });

  const stop = (reason: StopReason) => ({ type: 'stopPhase', params: { reason } }) as const;

  const claimed = phases.map(({ name }, index) => ({
    guard: { type: 'isNextPhase', params: { index } } as const,
    target: `active.${name}`,
    actions: ['claimed', 'runPhase'] as const,
  }));

  const phaseStates = Object.fromEntries(
    phases.map(({ name }, index) => {
      const following = phases[index + 1];
      const done = following
        ? { target: following.name, actions: ['phaseCompleted', 'runPhase'] as const }
        : { target: '#job.completed', actions: ['phaseCompleted'] as const };
      return [name, { on: { phaseCompleted: done } }] as const;
    }),
  );

  /** What may be asked of any job that has not come to its end. */
  const atRest = {
    cancel: { target: 'cancelled', actions: 'cancelled' },
    complete: { target: 'completed', actions: 'completedOutside' },
    abandoned: { target: 'failed', actions: 'gaveUp' },
  } as const;

  const retry = {
    guard: 'hasUnfinishedPhases',
    target: 'pending',
    actions: 'retried',
  } as const;

  const markStale = { target: 'stale', actions: 'markedStale' } as const;
  const pause = { target: 'paused', actions: 'pausedAtRest' } as const;

  return machine.createMachine({
    id: 'job',
    description: `A job of the pipeline "${pipeline}"`,
    context: ({ input }) => ({ job: input }),
    initial: 'pending',
    // Webhooks take their own time: whatever has become of the job meanwhile, it may hear that one arrived.
    on: { webhookDelivered: { actions: 'webhookDelivered' } },
    states: {
      blocked: {
        on: { ...atRest, blockersClosed: { target: 'pending', actions: 'noted' } },
      },
      pending: {
        on: { ...atRest, pause, claimed },
      },
      active: {
        initial: phases[0]?.name ?? '',
        states: phaseStates,
        on: {
          phaseStarted: { actions: 'phaseStarted' },
          progressed: { actions: 'progressed' },
          phaseFailed: [
            { guard: 'mayRetry', target: 'retrying', actions: ['willRetry', stop('timeout')] },
            { target: 'failed', actions: ['gaveUp', stop('timeout')] },
          ],
          interrupted: [
            {
              guard: 'attemptsLeft',
              target: 'retrying',
              actions: ['willRetry', stop('taken_by_another_worker')],
            },
            { target: 'failed', actions: ['gaveUp', stop('taken_by_another_worker')] },
          ],
          released: { target: 'pending', actions: ['released', stop('shutdown')] },
          pause: { target: 'paused', actions: ['pausedWhileActive', stop('paused')] },
          cancel: { target: 'cancelled', actions: ['cancelled', stop('cancelled')] },
          complete: { target: 'completed', actions: ['completedOutside', stop('already_completed')] },
          abandoned: { target: 'failed', actions: ['gaveUp', stop('abandoned')] },
        },
      },
      retrying: {
        on: { ...atRest, pause, claimed },
      },
      paused: {
        on: { ...atRest, retry, resume: { target: 'pending', actions: 'resumed' } },
      },
      completed: { on: { markStale } },
      failed: { on: { markStale, retry } },
      cancelled: { on: { markStale, retry } },
      stale: {
        on: { retry, delete: { target: 'deleted', actions: 'noted' } },
      },
      deleted: { type: 'final' },
    },
  });
}
