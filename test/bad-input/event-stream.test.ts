import { type EventStreamOptions, pipeline } from 'millrace';
import { type WatchOptions, watchJobs } from 'millrace/client';
import { describe, expect, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';
import { expectInvalid, notCounts, TOO_LONG_FOR_A_TIMER, TOO_LONG_FOR_ANYBODY } from './refusals.ts';

const work = pipeline('work').phase('only', () => null);

function producer() {
  return openQueue({ database: ':memory:', pipelines: [work], claim: false });
}

describe('createEventStream', () => {
  const lists = [5, null, {}, '', [''], [5], [null], ['a', undefined], [['a']]];
  const refused: readonly (readonly [field: string, options: unknown])[] = [
    ['options', null],
    ['options', 5],
    ['options.lastEventID', { lastEventID: '5' }],
    ...['yes', 1, null].map((snapshot) => ['options.snapshot', { snapshot }] as const),
    ...[{}, true, [5], 5n].map((lastEventId) => ['options.lastEventId', { lastEventId }] as const),
    ...notCounts(1).map(([, pingMs]) => ['options.pingMs', { pingMs }] as const),
    ...TOO_LONG_FOR_ANYBODY.map((pingMs) => ['options.pingMs', { pingMs }] as const),
    ...[null, {}, new AbortController()].map((signal) => ['options.signal', { signal }] as const),
    ...[null, 'job:failed', ['job:failed']].map((filter) => ['options.filter', { filter }] as const),
    ['options.filter.event', { filter: { event: 'job:failed' } }],
    ...(['events', 'pipelines', 'jobIds', 'statuses'] as const).flatMap((part) =>
      lists.map((value) => [`options.filter.${part}`, { filter: { [part]: value } }] as const),
    ),
    ['options.filter.events', { filter: { events: ['job:failed', 'job:done'] } }],
    ['options.filter.events', { filter: { events: 'ping' } }],
    ['options.filter.statuses', { filter: { statuses: ['pending', 'done'] } }],
  ];
  test.each(refused)('refuses %s: %o', async (field, options) => {
    const queue = producer();
    await expectInvalid(() => queue.createEventStream(options as EventStreamOptions), field);
  });

  test.each<[string, EventStreamOptions]>([
    ['nothing', {}],
    ['an empty filter', { filter: {} }],
    ['a filter that lets nothing through', { filter: { events: [], jobIds: [] } }],
    ['a pipeline this process does not have', { filter: { pipelines: 'elsewhere' } }],
    ['a pause longer than any timer', { pingMs: 2 ** 40 }],
    ['an id that is none of ours', { lastEventId: 'yours' }],
  ])('takes %s', async (_, options) => {
    const stream = producer().createEventStream(options);
    expect((await stream.getReader().read()).done).toBe(false);
  });
});

describe('watchJobs', () => {
  const refused: readonly (readonly [field: string, source: unknown, options: unknown])[] = [
    ...['', 'events', '/events', 5, null, undefined, {}].map((source) => ['source', source, {}] as const),
    ['options', 'http://localhost/', null],
    ['options.retryMs', 'http://localhost/', { retryMs: 5 }],
    ['options.lastEventId', 'http://localhost/', { lastEventId: 5 }],
    ['options.fetch', 'http://localhost/', { fetch: {} }],
    ['options.signal', 'http://localhost/', { signal: {} }],
    ...(['minRetryMs', 'maxRetryMs'] as const).flatMap((option) =>
      notCounts(0).map(([, value]) => [`options.${option}`, 'http://localhost/', { [option]: value }] as const),
    ),
    ...(['minRetryMs', 'maxRetryMs', 'silenceMs'] as const).flatMap((option) =>
      TOO_LONG_FOR_A_TIMER.map((ms) => [`options.${option}`, 'http://localhost/', { [option]: ms }] as const),
    ),
    ...notCounts(1).map(([, silenceMs]) => ['options.silenceMs', 'http://localhost/', { silenceMs }] as const),
  ];
  test.each(refused)('refuses %s: %o %o', async (field, source, options) => {
    await expectInvalid(() => watchJobs(source as string, options as WatchOptions), field);
  });
});
