import { existsSync } from 'node:fs';
import { JobQueue, type JobQueueConfig, pipeline, type WebhookOptions } from 'millrace';
import { describe, expect, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';
import {
  errorOf,
  expectInvalid,
  expectNothingStored,
  notCounts,
  TOO_LONG_FOR_A_TIMER,
  TOO_LONG_FOR_ANYBODY,
} from './refusals.ts';

const work = pipeline('work').phase('only', () => 'done');

/** Opens a queue with one thing wrong about its webhooks; the file must not come into being. */
async function expectRefused(webhooks: unknown, field: string): Promise<void> {
  const database = tempDatabase();
  await expectInvalid(() => new JobQueue({ database, pipelines: [work], webhooks } as JobQueueConfig), field);
  expect(existsSync(database)).toBe(false);
}

const PRIVATE_URLS = [
  'http://127.0.0.1/',
  'http://127.1:8080/hook',
  'http://2130706433/',
  'http://0x7f000001/',
  'http://0177.0.0.1/',
  'http://[::1]/',
  'http://[::ffff:127.0.0.1]/',
  'http://[fd00::1]/',
  'http://[fe80::1]/',
  'http://10.0.0.1/',
  'http://100.64.0.1/',
  'http://169.254.169.254/latest/meta-data/',
  'http://192.168.0.1/',
  'http://224.0.0.1/',
  'http://0.0.0.0/',
];

describe('options of webhooks', () => {
  const limits: readonly (readonly [key: keyof WebhookOptions, least: number])[] = [
    ['timeoutMs', 1],
    ['maxAttempts', 1],
    ['concurrencyPerEndpoint', 1],
    ['maxResponseBytes', 0],
    ['keepFailedMs', 0],
  ];
  const cases = limits.flatMap(([key, least]) =>
    notCounts(least).map(([shown, value]) => [key, shown, value] as const),
  );
  test.each(cases)('%s %s is refused', (key, _, value) => expectRefused({ [key]: value }, `config.webhooks.${key}`));

  test.each<readonly [string, string, unknown]>([
    ['config.webhooks', 'null', null],
    ['config.webhooks', 'a URL', 'https://example.com'],
    ['config.webhooks', 'a list', []],
    ['config.webhooks.uri', 'misspelt', { uri: 'https://example.com' }],
    ['config.webhooks.url', 'a number', { url: 5 }],
    ['config.webhooks.url', 'no URL', { url: 'example.com/hook' }],
    ['config.webhooks.url', 'another scheme', { url: 'ftp://example.com/' }],
    ['config.webhooks.url', 'with credentials', { url: 'https://me:secret@example.com/' }],
    ['config.webhooks.secret', 'empty', { secret: '' }],
    ['config.webhooks.secret', 'a number', { secret: 5 }],
    ['config.webhooks.secret', 'an empty list', { secret: [] }],
    ['config.webhooks.secret', 'not base64 after whsec_', { secret: 'whsec_?' }],
    ['config.webhooks.secret', 'no byte after whsec_', { secret: 'whsec_A' }],
    ['config.webhooks.secret', 'nothing after whsec_', { secret: 'whsec_' }],
    ['config.webhooks.secret[1]', 'a number', { secret: ['a', 5] }],
    ['config.webhooks.events', 'a name', { events: 'job:completed' }],
    ['config.webhooks.events[0]', 'no event of webhooks', { events: ['job:progress'] }],
    ['config.webhooks.events[1]', 'undefined', { events: ['job:failed', undefined] }],
    ['config.webhooks.allowPrivateNetwork', 'a string', { allowPrivateNetwork: 'yes' }],
    ['config.webhooks.send', 'a number', { send: 1 }],
    ['config.webhooks.backoff', 'a number', { backoff: 5 }],
    ['config.webhooks.backoff.type', 'unknown', { backoff: { type: 'random', baseMs: 1 } }],
    ['config.webhooks.backoff.baseMs', 'missing', { backoff: { type: 'fixed' } }],
    ...TOO_LONG_FOR_A_TIMER.map((ms) => ['config.webhooks.timeoutMs', `${ms} ms`, { timeoutMs: ms }] as const),
    ...TOO_LONG_FOR_ANYBODY.flatMap(
      (ms) =>
        [
          ['config.webhooks.keepFailedMs', `${ms} ms`, { keepFailedMs: ms }],
          ['config.webhooks.backoff.baseMs', `${ms} ms`, { backoff: { type: 'fixed', baseMs: ms } }],
          ['config.webhooks.backoff.maxMs', `${ms} ms`, { backoff: { type: 'fixed', baseMs: 1, maxMs: ms } }],
        ] as const,
    ),
  ])('%s, %s, is refused', (field, _, webhooks) => expectRefused(webhooks, field));

  test.each(PRIVATE_URLS)('the URL %s is refused unless private networks are allowed', async (url) => {
    await expectRefused({ url }, 'config.webhooks.url');
    openQueue({ pipelines: [work], webhooks: { url, allowPrivateNetwork: true, send: false } });
  });

  test('neither a secret nor a password is repeated', async () => {
    for (const webhooks of [{ secret: 'whsec_hush-hush!' }, { url: 'https://me:hush-hush@example.com' }]) {
      const error = await errorOf(() => new JobQueue({ database: ':memory:', pipelines: [work], webhooks }));
      expect(String(error)).not.toContain('hush');
    }
  });
});

describe('a job’s webhookUrl', () => {
  test.each(PRIVATE_URLS)('%s is refused unless private networks are allowed', async (webhookUrl) => {
    const queue = openQueue({ pipelines: [work], claim: false });
    await expectInvalid(queue.enqueue('work', null, { webhookUrl }), 'options.webhookUrl');
    await expectNothingStored(queue);
    const open = openQueue({ pipelines: [work], claim: false, webhooks: { allowPrivateNetwork: true } });
    await open.enqueue('work', null, { webhookUrl });
  });
});

test('deliveries are asked for by a job’s id', async () => {
  const queue = openQueue({ pipelines: [work], claim: false });
  await expectInvalid(queue.deliveries(''), 'id');
  expect(await queue.deliveries('nobody')).toEqual([]);
});
