import { expect, test } from 'vitest';
import type { StagedTransition } from '../../../../src/actors/job-actor.ts';
import { owedBy } from '../../../../src/runtime/supervisor/owed.ts';
import { parseWebhooks, type WebhookOptions } from '../../../../src/runtime/webhook-options.ts';
import { events, fatal, jobThatIs, newborn, step, T0 } from '../../actors/jobs.ts';

const URL_A = 'https://a.example/hook';

function owed(options: WebhookOptions | undefined, { job, transition }: ReturnType<typeof step>) {
  const staged = { ...transition, position: 7 } as StagedTransition;
  return owedBy(parseWebhooks(options, true), (at) => `msg_${at - T0}`)(job, staged);
}

test.each([
  ['job:completed', step(newborn(), events.complete)],
  ['job:cancelled', step(newborn(), events.cancel)],
  ['job:retrying', step(newborn(), events.claimed, events.phaseFailed)],
  ['job:failed', step(newborn(), events.claimed, fatal)],
  ['job:stale', step(jobThatIs('cancelled'), events.markStale)],
])('%s is owed, with the job and transition as they are', (type, done) => {
  const { job, transition } = done;
  const at = transition!.at;
  expect(owed({ url: URL_A }, done)).toEqual([
    {
      id: `msg_${at - T0}`,
      url: URL_A,
      signed: false,
      event: { type, at, job, transition: { ...transition, position: 7 } },
    },
  ]);
});

test.each([
  ['being claimed', step(newborn(), events.claimed)],
  ['a phase that is not the last', step(newborn(), events.claimed, events.phaseCompleted)],
  ['a pause', step(newborn(), events.pause)],
  ['a manual retry', step(jobThatIs('failed'), events.retry)],
  ['deletion', step(jobThatIs('stale'), events.delete)],
])('%s owes nothing', (_, done) => {
  expect(owed({ url: URL_A }, done)).toEqual([]);
});

test('without an address nothing is owed', () => {
  const done = step(newborn(), events.complete);
  expect(owed({}, done)).toEqual([]);
  expect(owed(undefined, done)).toEqual([]);
});

test('the job’s own address comes first, and needs no queue-level one', () => {
  const done = step(newborn({ webhookUrl: 'https://b.example/' }), events.complete);
  expect(owed({ url: URL_A }, done)).toMatchObject([{ url: 'https://b.example/' }]);
  expect(owed(undefined, done)).toMatchObject([{ url: 'https://b.example/' }]);
});

test('only the chosen events are owed, and a secret makes them signed', () => {
  const options = { url: URL_A, events: ['job:failed'], secret: 's' } as const;
  expect(owed(options, step(newborn(), events.complete))).toEqual([]);
  expect(owed(options, step(newborn(), events.claimed, fatal))).toMatchObject([{ signed: true }]);
});
