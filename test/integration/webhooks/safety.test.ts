import { readFileSync } from 'node:fs';
import { inspect } from 'node:util';
import { JobQueue, type JobQueueConfig, pipeline } from 'millrace';
import { describe, expect, test } from 'vitest';
import { closeQueue, nextEvent, openQueue } from '../../support/open-queue.ts';
import { receiver } from '../../support/receiver.ts';
import { tempDatabase } from '../../support/temp-database.ts';

const work = pipeline('work').phase('run', () => 'done');

describe('addresses that are not public', () => {
  test('a name that resolves to loopback is refused when it is connected to, at the first attempt', async () => {
    const endpoint = await receiver();
    const url = endpoint.url.replace('127.0.0.1', 'localhost');
    const queue = openQueue({ pipelines: [work], webhooks: { url } });
    const failed = nextEvent(queue, 'job:webhook:failed');
    await queue.enqueue('work', null);
    expect(await failed).toMatchObject({ attempts: 1, error: expect.stringContaining('localhost is in a private') });
    expect(endpoint.connections()).toBe(0);
  });

  test('an address that was stored when it was allowed is refused when it is not any more', async () => {
    const database = tempDatabase();
    const endpoint = await receiver();
    const allowing = { allowPrivateNetwork: true, send: false } as const;
    const before = new JobQueue({ database, pipelines: [work], webhooks: allowing });
    const ids = await before.enqueueMany(
      [endpoint.url, endpoint.url.replace('127.0.0.1', '[::ffff:127.0.0.1]')].map(
        (webhookUrl) => ({ name: 'work', data: null, options: { webhookUrl } }) as const,
      ),
    );
    await Promise.all(ids.map((id) => before.result(id)));
    await before.shutdown();
    const queue = openQueue({ database, pipelines: [work] });
    for (const id of ids) await expect.poll(async () => (await queue.deliveries(id))[0]?.status).toBe('failed');
    expect(endpoint.connections()).toBe(0);
  });

  test('they are sent to when that is allowed, by name too', async () => {
    const endpoint = await receiver();
    const url = endpoint.url.replace('127.0.0.1', 'localhost');
    openQueue({ pipelines: [work], webhooks: { url, allowPrivateNetwork: true } }).enqueue('work', null);
    await endpoint.gets(1);
  });
});

test('a secret is in no event, error, row or file', async () => {
  const secret = 'correct-horse-battery-staple';
  const database = tempDatabase();
  const endpoint = await receiver((_, n) => (n === 1 ? 400 : (_response, request) => void request.socket.destroy()));
  const queue = new JobQueue({
    database,
    pipelines: [work],
    webhooks: { url: endpoint.url, allowPrivateNetwork: true, secret, backoff: { type: 'fixed', baseMs: 3_600_000 } },
  });
  const told: unknown[] = [inspect(queue, { depth: 20, showHidden: true })];
  queue.on('error', (event) => told.push(event));
  const failed = nextEvent(queue, 'job:webhook:failed');
  const ids = [await queue.enqueue('work', null)];
  told.push(await failed);
  ids.push(await queue.enqueue('work', null));
  for (const id of ids) {
    await expect.poll(async () => (await queue.deliveries(id))[0]?.attempts).toBe(1);
    told.push(await queue.deliveries(id), await queue.getJob(id));
  }
  const files = ['', '-wal'].map((suffix) => readFileSync(`${database}${suffix}`, 'latin1'));
  await closeQueue(queue);
  const wrong = { database: ':memory:', pipelines: [work], webhooks: { secret: [secret, ''] } } as const;
  expect(() => new JobQueue(wrong)).toThrow('config.webhooks.secret[1]');
  for (const hidden of [secret, Buffer.from(secret).toString('base64'), Buffer.from(secret).toString('hex')]) {
    expect(inspect(told, { depth: 20 })).not.toContain(hidden);
    for (const file of files) expect(file).not.toContain(hidden);
  }
});

test('a store that fails while an arrival is committed reports it, and the receiver gets a repeat under the same id', async () => {
  const database = tempDatabase();
  let broken = false;
  const endpoint = await receiver((_, n) => {
    broken = n === 1;
    return 200;
  });
  const config: JobQueueConfig<[typeof work]> = {
    database,
    pipelines: [work],
    webhooks: { url: endpoint.url, allowPrivateNetwork: true },
    onPoint: (point) => {
      if (broken && point === 'before-commit') throw new Error('disk on fire');
    },
  };
  const queue = new JobQueue(config);
  const reported = nextEvent(queue, 'error', ({ during }) => during.includes('webhook'));
  await queue.enqueue('work', null);
  expect(await reported).toMatchObject({ error: { message: 'disk on fire' } });
  broken = false;
  await queue.shutdown();
  openQueue(config);
  const [first, second] = await endpoint.gets(2);
  expect(second?.id).toBe(first?.id);
});
