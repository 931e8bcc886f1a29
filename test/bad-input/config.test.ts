import { existsSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { JobQueue, type JobQueueConfig, pipeline, StoreUnavailableError } from 'millrace';
import { describe, expect, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';
import { tempDatabase, tempFolder } from '../support/temp-database.ts';
import { errorOf, expectInvalid, notCounts, TOO_LONG_FOR_A_TIMER, TOO_LONG_FOR_ANYBODY } from './refusals.ts';

const work = pipeline('work').phase('only', () => 'done');

/** Opens a queue with one thing wrong; the file must not come into being. */
async function expectRefused(wrong: object, field: string): Promise<void> {
  const database = tempDatabase();
  await expectInvalid(() => new JobQueue({ database, pipelines: [work], ...wrong } as JobQueueConfig), field);
  expect(existsSync(database)).toBe(false);
}

describe('a configuration that is no object of options', () => {
  test.each([
    ['undefined', undefined],
    ['null', null],
    ['a path', './jobs.db'],
    ['an array', []],
  ])('%s is refused', async (_, config) => {
    await expectInvalid(() => new JobQueue(config as never), 'config');
  });
});

describe('an option that does not exist', () => {
  test.each([
    ['config.concurency', { concurency: 4 }],
    ['config.lease', { lease: 1_000 }],
    ['config.retention.staleAfter', { retention: { staleAfter: 5 } }],
  ])('%s is refused', (field, wrong) => expectRefused(wrong, field));
});

describe('a limit that is no whole number in range', () => {
  const limits: readonly (readonly [field: string, least: number])[] = [
    ['concurrency', 1],
    ['leaseMs', 100],
    ['busyTimeoutMs', 0],
    ['maxPayloadBytes', 1],
    ['retention.staleAfterMs', 0],
    ['retention.deleteAfterMs', 0],
    ['retention.logMaxAgeMs', 0],
    ['retention.logMaxCount', 0],
    ['retention.intervalMs', 1],
    ['retention.batchSize', 1],
  ];
  const cases = limits.flatMap(([field, least]) => notCounts(least).map(([shown, value]) => [field, shown, value]));
  test.each(cases as [string, string, unknown][])('%s %s is refused', async (field, _, value) => {
    const [outer = '', inner] = field.split('.');
    await expectRefused({ [outer]: inner ? { [inner]: value } : value }, `config.${field}`);
  });
});

describe('a wait that is too long', () => {
  const waits = [
    'leaseMs',
    'retention.staleAfterMs',
    'retention.deleteAfterMs',
    'retention.logMaxAgeMs',
    'retention.intervalMs',
  ];
  const cases = [
    ...TOO_LONG_FOR_A_TIMER.map((ms) => ['busyTimeoutMs', ms] as const),
    ...waits.flatMap((field) => TOO_LONG_FOR_ANYBODY.map((ms) => [field, ms] as const)),
  ];
  test.each(cases)('%s of %d is refused', async (field, value) => {
    const [outer = '', inner] = field.split('.');
    await expectRefused({ [outer]: inner ? { [inner]: value } : value }, `config.${field}`);
  });
});

test('limits as large as they may be are no hindrance', async () => {
  const years = 100 * 365 * 86_400_000;
  const queue = openQueue({
    pipelines: [work],
    concurrency: Number.MAX_SAFE_INTEGER,
    leaseMs: years,
    busyTimeoutMs: 2 ** 31 - 1,
    maxPayloadBytes: Number.MAX_SAFE_INTEGER,
    maxBlobBytes: Number.MAX_SAFE_INTEGER,
    retention: {
      staleAfterMs: years,
      deleteAfterMs: years,
      logMaxAgeMs: years,
      logMaxCount: Number.MAX_SAFE_INTEGER,
      intervalMs: years,
      batchSize: Number.MAX_SAFE_INTEGER,
    },
    webhooks: { timeoutMs: 2 ** 31 - 1, keepFailedMs: years, backoff: { type: 'fixed', baseMs: years, maxMs: years } },
  });
  const errors: unknown[] = [];
  queue.on('error', ({ error }) => errors.push(error));
  expect(await queue.result(await queue.enqueue('work', null))).toBe('done');
  expect(errors).toEqual([]);
});

describe('a value of the wrong kind', () => {
  test.each([
    ['config.inspect', 'no observer', { inspect: {} }],
    ['config.inspect', 'a name', { inspect: 'stately' }],
    ['config.inspect.observer', 'missing', { inspect: { observer: undefined } }],
    ['config.inspect.jobs', 'a list', { inspect: { observer() {}, jobs: ['a'] } }],
    ['config.inspect.sample', 'in percent', { inspect: { observer() {}, sample: 50 } }],
    ['config.inspect.jbos', 'unknown', { inspect: { observer() {}, jbos() {} } }],
    ['config.database', 'missing', { database: undefined }],
    ['config.database', 'empty', { database: '' }],
    ['config.database', 'a number', { database: 5 }],
    ['config.database', 'an object', { database: {} }],
    ['config.claim', '"no"', { claim: 'no' }],
    ['config.claim', '0', { claim: 0 }],
    ['config.durability', '"full"', { durability: 'full' }],
    ['config.durability', 'null', { durability: null }],
    ['config.onPhasesChanged', '"ignore"', { onPhasesChanged: 'ignore' }],
    ['config.onShutdown', '"kill"', { onShutdown: 'kill' }],
    ['config.retention', 'a number', { retention: 5 }],
    ['config.retention', 'null', { retention: null }],
    ['config.retention', 'an array', { retention: [] }],
    ['config.retention.onStale', 'a string', { retention: { onStale: 'log' } }],
    ['config.retention.onDelete', 'an object', { retention: { onDelete: {} } }],
    ['config.clock', 'without methods', { clock: {} }],
    ['config.clock', 'a number', { clock: 5 }],
    ['config.onPoint', 'a string', { onPoint: 'before-commit' }],
  ])('%s, %s, is refused', (field, _, wrong) => expectRefused(wrong, field));
});

describe('a list of pipelines', () => {
  test.each([
    ['that is missing', undefined],
    ['that is one pipeline', work],
    ['that is an object of pipelines', { work }],
    ['that holds undefined', [undefined]],
    ['that holds a look-alike', [{ name: 'work', phases: [{ name: 'only', run() {} }] }]],
  ])('%s is refused', (_, pipelines) => expectRefused({ pipelines }, 'config.pipelines'));

  test('that holds a pipeline without phases is refused by its name', async () => {
    await expectRefused({ pipelines: [work, pipeline('hollow')] }, 'config.pipelines');
    const error = await errorOf(() => new JobQueue({ database: ':memory:', pipelines: [pipeline('hollow')] }));
    expect(error).toHaveProperty('message', expect.stringContaining('"hollow" has no phases'));
  });

  test('that holds a name twice is refused by that name', async () => {
    const twin = pipeline('work').phase('other', () => null);
    await expectRefused({ pipelines: [work, twin] }, 'config.pipelines');
    const error = await errorOf(() => new JobQueue({ database: ':memory:', pipelines: [work, twin] }));
    expect(error).toHaveProperty('message', expect.stringContaining('"work" is given twice'));
  });
});

describe('an option given as undefined counts as left out', () => {
  test.each([
    'concurrency',
    'claim',
    'leaseMs',
    'busyTimeoutMs',
    'maxPayloadBytes',
    'durability',
    'onShutdown',
    'clock',
  ])('%s', async (key) => {
    const queue = openQueue({ pipelines: [work], [key]: undefined } as { pipelines: [typeof work] });
    const late = new Promise((resolve) => setTimeout(resolve, 2_000, 'the job never ran').unref());
    expect(await Promise.race([queue.enqueue('work', null).then((id) => queue.result(id)), late])).toBe('done');
  });
});

describe('a database that cannot be used', () => {
  test('a folder that does not exist is refused and not created', async () => {
    const folder = join(tempFolder(), 'missing');
    const error = await errorOf(() => new JobQueue({ database: join(folder, 'jobs.db'), pipelines: [work] }));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toMatchObject({ code: 'store_unavailable', message: expect.stringContaining(folder) });
    expect(existsSync(folder)).toBe(false);
  });

  test('a folder in place of a file is refused', async () => {
    const error = await errorOf(() => new JobQueue({ database: tempFolder(), pipelines: [work] }));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toHaveProperty('message', expect.stringContaining('is not a file'));
  });

  test('a closed database of the application is refused', async () => {
    const database = new Database(':memory:');
    database.close();
    const error = await errorOf(() => new JobQueue({ database, pipelines: [work] }));
    expect(error).toBeInstanceOf(StoreUnavailableError);
    expect(error).toHaveProperty('message', expect.stringContaining('closed'));
  });
});
