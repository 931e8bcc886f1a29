import { JobQueue, type JobQueueConfig, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { fakeClock } from '../../support/fake-clock.ts';
import { nextEvent, openQueue } from '../../support/open-queue.ts';
import { type Answer, receiver } from '../../support/receiver.ts';
import { tempDatabase } from '../../support/temp-database.ts';

const work = pipeline('work').phase('run', () => 'done');

/** A queue on held time, with one job completed and one webhook under way. */
async function oneJob(answer: (n: number) => Answer, options: JobQueueConfig['webhooks'] = {}) {
  const { clock, advance } = fakeClock();
  const endpoint = await receiver((_, n) => answer(n));
  const queue = openQueue({
    pipelines: [work],
    clock,
    webhooks: {
      url: endpoint.url,
      allowPrivateNetwork: true,
      backoff: { type: 'exponential', baseMs: 10_000 },
      ...options,
    },
  });
  const id = await queue.enqueue('work', null);
  const attempts = (count: number) =>
    expect.poll(async () => (await queue.deliveries(id))[0]?.attempts, { interval: 5 }).toBe(count);
  return { clock, advance, endpoint, queue, id, attempts };
}

test('a receiver that fails is tried again after a growing wait, with the same id and body, at the time of each attempt', async () => {
  const { clock, advance, endpoint, queue, id, attempts } = await oneJob((n) => (n < 4 ? 500 : 200));
  const begin = clock.now();
  for (const [failed, wait] of [
    [1, 10_000],
    [2, 20_000],
    [3, 40_000],
  ] as const) {
    await attempts(failed);
    expect(await queue.deliveries(id)).toMatchObject([
      { status: 'owed', nextAttemptAt: clock.now() + wait, error: 'The receiver answered 500.' },
    ]);
    advance(wait - 1);
    await queue.stats();
    expect(endpoint.received).toHaveLength(failed);
    if (failed < 3) advance(1);
  }
  const told = nextEvent(queue, 'job:webhook:delivered');
  advance(1);
  expect(await told).toMatchObject({ attempts: 4 });
  const { received } = endpoint;
  expect(new Set(received.map(({ id: webhookId, body }) => webhookId + body)).size).toBe(1);
  expect(received.map(({ headers }) => Number(headers['webhook-timestamp']) * 1_000 - begin)).toEqual([
    0, 10_000, 30_000, 70_000,
  ]);
});

test.each([
  ['seconds', () => '120'],
  ['a date', (now: number) => new Date(now + 120_000).toUTCString()],
])('Retry-After in %s is heeded where it is longer than the backoff', async (_, value) => {
  const { clock, queue, id, attempts } = await oneJob(
    () => (response) => void response.writeHead(429, { 'retry-after': value(1_700_000_000_000) }).end(),
  );
  await attempts(1);
  expect((await queue.deliveries(id))[0]?.nextAttemptAt).toBe(clock.now() + 120_000);
});

test.each(['0', '1', new Date(1_600_000_000_000).toUTCString(), '1.5'])(
  'Retry-After: %s shortens no wait, so that attempts last as long as they should',
  async (value) => {
    const { clock, queue, id, attempts } = await oneJob(
      () => (response) => void response.writeHead(503, { 'retry-after': value }).end(),
    );
    await attempts(1);
    expect((await queue.deliveries(id))[0]?.nextAttemptAt).toBe(clock.now() + 10_000);
  },
);

test.each<[string, Answer]>([
  ['408', 408],
  ['429', 429],
  ['503', 503],
  ['a reset connection', (_response, request) => void request.socket.destroy()],
])('%s is worth another attempt', async (_, answer) => {
  const { advance, queue, attempts } = await oneJob((n) => (n === 1 ? answer : 200));
  await attempts(1);
  const told = nextEvent(queue, 'job:webhook:delivered');
  advance(10_000);
  expect(await told).toMatchObject({ attempts: 2 });
});

test.each<[number]>([[301], [307], [400], [401], [404], [410]])('%i is given up at once', async (status) => {
  const elsewhere = await receiver();
  const endpoint = await receiver(
    () => (response) => void response.writeHead(status, { location: elsewhere.url }).end(),
  );
  const queue = openQueue({ pipelines: [work], webhooks: { url: endpoint.url, allowPrivateNetwork: true } });
  const failed = nextEvent(queue, 'job:webhook:failed');
  const id = await queue.enqueue('work', null);
  const event = await failed;
  expect(event).toMatchObject({
    attempts: 1,
    error: expect.stringContaining(`${status}`),
    job: { webhookSent: false },
  });
  expect(await queue.deliveries(id)).toMatchObject([
    { id: event.deliveryId, status: 'failed', attempts: 1, nextAttemptAt: null, error: event.error },
  ]);
  expect(elsewhere.received).toEqual([]);
});

test('after the last attempt it is given up, the next delivery of the job goes out, and the failed one is forgotten in time', async () => {
  const { clock, advance } = fakeClock();
  const endpoint = await receiver(({ event }) => (event.type === 'job:cancelled' ? 500 : 200));
  const queue = openQueue({
    pipelines: [work],
    clock,
    webhooks: {
      url: endpoint.url,
      allowPrivateNetwork: true,
      maxAttempts: 2,
      backoff: { type: 'fixed', baseMs: 1_000 },
      keepFailedMs: 60_000,
    },
  });
  const id = await queue.enqueue('work', null, { delayMs: 3_600_000 });
  await queue.cancel(id);
  await queue.retry(id);
  await queue.result(id);
  await expect.poll(async () => (await queue.deliveries(id))[0]?.attempts).toBe(1);
  const failed = nextEvent(queue, 'job:webhook:failed');
  const delivered = nextEvent(queue, 'job:webhook:delivered');
  advance(1_000);
  expect(await failed).toMatchObject({ event: 'job:cancelled', attempts: 2, job: { status: 'completed' } });
  expect(await delivered).toMatchObject({ event: 'job:completed' });
  expect(await queue.deliveries(id)).toMatchObject([{ status: 'failed', type: 'job:cancelled' }]);
  await new Promise(setImmediate);
  advance(60_001);
  await expect.poll(() => queue.deliveries(id)).toEqual([]);
});

test('law 7: a wait between attempts outlasts a restart, and a deleted job', async () => {
  const { clock, advance } = fakeClock();
  const database = tempDatabase();
  const endpoint = await receiver((_, n) => (n === 1 ? 500 : 200));
  const config = {
    database,
    pipelines: [work],
    clock,
    webhooks: {
      url: endpoint.url,
      allowPrivateNetwork: true,
      events: ['job:completed'],
      backoff: { type: 'fixed', baseMs: 3_600_000 },
    },
  } as const;
  const first = new JobQueue({ ...config, retention: { staleAfterMs: 0, deleteAfterMs: 0, intervalMs: 10 } });
  const id = await first.enqueue('work', null);
  await expect.poll(async () => (await first.deliveries(id))[0]?.attempts).toBe(1);
  const deleted = nextEvent(first, 'job:deleted');
  for (let i = 0; i < 5; i++) {
    advance(10);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await deleted;
  await first.shutdown();

  const second = openQueue(config);
  const told = nextEvent(second, 'job:webhook:delivered');
  await second.stats();
  expect(endpoint.received).toHaveLength(1);
  expect(await second.getJob(id)).toBeUndefined();
  advance(3_600_000);
  expect(await told).toMatchObject({ attempts: 2, job: { id, status: 'completed', webhookSent: false } });
  expect(endpoint.received[1]?.body).toBe(endpoint.received[0]?.body);
  expect(await second.deliveries(id)).toEqual([]);
});
