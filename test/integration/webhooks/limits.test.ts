import Database from 'better-sqlite3';
import { JobQueue, pipeline, RecoverableError } from 'millrace';
import { expect, onTestFinished, test } from 'vitest';
import { gate, nextEvent, openQueue } from '../../support/open-queue.ts';
import { receiver } from '../../support/receiver.ts';
import { tempDatabase } from '../../support/temp-database.ts';

const work = pipeline('work').phase('run', () => 'done');
const many = (count: number, webhookUrl: string) =>
  Array.from({ length: count }, () => ({ name: 'work', data: null, options: { webhookUrl } }) as const);

test('an endpoint that never answers holds up neither jobs nor other endpoints', async () => {
  const silent = await receiver(() => () => {});
  const brisk = await receiver();
  const queue = openQueue({ pipelines: [work], webhooks: { allowPrivateNetwork: true } });
  await queue.enqueueMany(many(50, silent.url));
  await queue.enqueueMany(many(50, brisk.url));
  await brisk.gets(50);
  await expect.poll(async () => (await queue.stats()).jobs).toEqual({ completed: 100 });
  expect(silent.received.length).toBeLessThanOrEqual(4);
});

test('no more than the chosen number of deliveries are under way to one endpoint', async () => {
  let underWay = 0;
  let most = 0;
  const endpoint = await receiver(() => (response) => {
    most = Math.max(most, ++underWay);
    setImmediate(() => {
      underWay--;
      response.end();
    });
  });
  const queue = openQueue({
    pipelines: [work],
    webhooks: { allowPrivateNetwork: true, concurrencyPerEndpoint: 3 },
  });
  await queue.enqueueMany(many(60, endpoint.url));
  await endpoint.gets(60);
  expect(most).toBe(3);
});

test('many deliveries at a time are no reason for Node to warn of leaks', async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.name);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  const all = gate();
  const endpoint = await receiver((_, n) => {
    if (n === 40) all.open();
    return (response) => void all.opened.then(() => response.end());
  });
  const queue = openQueue({
    pipelines: [work],
    webhooks: { allowPrivateNetwork: true, concurrencyPerEndpoint: 40 },
  });
  await queue.enqueueMany(many(40, endpoint.url));
  await endpoint.gets(40);
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});

test('an answer that does not come in time counts as a failed attempt', async () => {
  const endpoint = await receiver((_, n) => (n === 1 ? () => {} : 200));
  const queue = openQueue({
    pipelines: [work],
    webhooks: {
      url: endpoint.url,
      allowPrivateNetwork: true,
      timeoutMs: 50,
      backoff: { type: 'fixed', baseMs: 0 },
    },
  });
  const told = nextEvent(queue, 'job:webhook:delivered');
  await queue.enqueue('work', null);
  expect(await told).toMatchObject({ attempts: 2 });
});

test('an answer without end is cut off, and its status counts', async () => {
  const closed = gate();
  const endpoint = await receiver(() => (response) => {
    response.writeHead(200);
    const pour = () => {
      while (response.writable && response.write('x'.repeat(10_000)));
    };
    response.on('drain', pour);
    response.on('close', () => closed.open());
    pour();
  });
  const queue = openQueue({
    pipelines: [work],
    webhooks: { url: endpoint.url, allowPrivateNetwork: true, maxResponseBytes: 100_000 },
  });
  const told = nextEvent(queue, 'job:webhook:delivered');
  await queue.enqueue('work', null);
  expect(await told).toMatchObject({ attempts: 1 });
  await closed.opened;
});

test('shutdown waits for deliveries under way, also for what the last job owed', async () => {
  const database = tempDatabase();
  const arrived = gate();
  const endpoint = await receiver(() => (response) => {
    arrived.open();
    setTimeout(() => response.end(), 50);
  });
  const queue = new JobQueue({
    database,
    pipelines: [work],
    webhooks: { url: endpoint.url, allowPrivateNetwork: true },
  });
  const told: string[] = [];
  queue.on('job:webhook:delivered', ({ job }) => told.push(job.id));
  const first = await queue.enqueue('work', null);
  await arrived.opened;
  const second = await queue.enqueue('work', null);
  await queue.result(second);
  await queue.shutdown();
  expect(told.sort()).toEqual([first, second].sort());
  const later = openQueue({ database, pipelines: [work], claim: false });
  expect((await later.listJobs()).jobs.map(({ webhookSent }) => webhookSent)).toEqual([true, true]);
});

test('shutdown does not wait beyond its time, and the next start sends the rest at once', async () => {
  const database = tempDatabase();
  const endpoint = await receiver((_, n) => (n === 1 ? () => {} : 200));
  const config = { database, pipelines: [work], webhooks: { url: endpoint.url, allowPrivateNetwork: true } } as const;
  const queue = new JobQueue(config);
  const id = await queue.enqueue('work', null);
  await endpoint.gets(1);
  await queue.shutdown({ timeoutMs: 20 });
  const later = openQueue(config);
  const told = nextEvent(later, 'job:webhook:delivered');
  expect(await told).toMatchObject({ attempts: 1, job: { id } });
  expect(endpoint.received.map((one) => one.id)).toEqual(Array(2).fill(endpoint.received[0]?.id));
});

/** Fails once, so that a job owes two webhooks: `job:retrying`, then `job:completed`. */
const flaky = pipeline('flaky')
  .phase('run', (_job, ctx) => {
    if (ctx.attempt === 1) throw new RecoverableError('not yet');
    return 'done';
  })
  .options({ retry: { maxAttempts: 2, disposition: 'fatal', backoff: { type: 'fixed', baseMs: 0 } } });

test('shutdown sends all that is due, however little room the endpoint has, and each job’s in order', async () => {
  const doors = gate();
  const endpoint = await receiver((_, n) =>
    n === 1 ? (response) => void doors.opened.then(() => response.end()) : 200,
  );
  const webhooks = { url: endpoint.url, allowPrivateNetwork: true, concurrencyPerEndpoint: 1 } as const;
  const database = tempDatabase();
  const queue = new JobQueue({ database, pipelines: [flaky], webhooks });
  const ids = await queue.enqueueMany(Array.from({ length: 5 }, () => ({ name: 'flaky', data: null }) as const));
  await Promise.all(ids.map((id) => queue.result(id)));
  await endpoint.gets(1);
  const closed = queue.shutdown();
  doors.open();
  await closed;
  const told = ids.map((id) =>
    endpoint.received.filter(({ event }) => event.job.id === id).map(({ event }) => event.type),
  );
  expect(told).toEqual(ids.map(() => ['job:retrying', 'job:completed']));
  const later = openQueue({ database, pipelines: [flaky], claim: false });
  expect(await Promise.all(ids.map((id) => later.deliveries(id)))).toEqual(ids.map(() => []));
});

test('what the end of a running job owes during shutdown is sent; what there is no time for keeps its order for the next start', async () => {
  const database = tempDatabase();
  const door = gate();
  const started = gate();
  const slow = pipeline('slow')
    .phase('run', async (_job, ctx) => {
      if (ctx.attempt === 1) throw new RecoverableError('not yet');
      started.open();
      await door.opened;
    })
    .options({ retry: { maxAttempts: 2, disposition: 'fatal', backoff: { type: 'fixed', baseMs: 0 } } });
  // The first delivery is under way for as long as the queue lives.
  const endpoint = await receiver((_, n) => (n === 1 ? () => {} : 200));
  const config = { database, pipelines: [slow], webhooks: { url: endpoint.url, allowPrivateNetwork: true } } as const;
  const queue = new JobQueue(config);
  const id = await queue.enqueue('slow', null);
  await Promise.all([started.opened, endpoint.gets(1)]);
  const completed = nextEvent(queue, 'job:completed');
  const closed = queue.shutdown({ timeoutMs: 200 });
  door.open();
  await completed;
  await closed;
  expect(endpoint.received.map(({ event }) => event.type)).toEqual(['job:retrying']);
  const later = openQueue(config);
  await expect.poll(() => later.deliveries(id)).toEqual([]);
  expect(endpoint.received.map(({ event }) => event.type)).toEqual(['job:retrying', 'job:retrying', 'job:completed']);
});

test('shutdown ends although the arrival of a webhook cannot be committed, and it stays owed', async () => {
  const database = tempDatabase();
  const endpoint = await receiver((_, n) =>
    n === 1 ? (response) => void answer.opened.then(() => response.end()) : 200,
  );
  const answer = gate();
  const config = { database, pipelines: [work], webhooks: { url: endpoint.url, allowPrivateNetwork: true } } as const;
  const queue = new JobQueue({ ...config, busyTimeoutMs: 50 });
  queue.on('error', () => {});
  const id = await queue.enqueue('work', null);
  await endpoint.gets(1);
  const other = new Database(database);
  onTestFinished(() => void other.close());
  other.exec('BEGIN IMMEDIATE');
  answer.open();
  await queue.shutdown({ timeoutMs: 100 });
  other.exec('ROLLBACK');
  const later = openQueue({ ...config, claim: false });
  expect(await later.deliveries(id)).toMatchObject([{ id: endpoint.received[0]?.id, status: 'owed' }]);
});

test('what a queue with a secret owes is left alone by one without', async () => {
  const database = tempDatabase();
  const endpoint = await receiver();
  const common = { url: endpoint.url, allowPrivateNetwork: true } as const;
  const signing = new JobQueue({ database, pipelines: [work], webhooks: { ...common, secret: 's', send: false } });
  const id = await signing.enqueue('work', null);
  await signing.result(id);
  await signing.shutdown();
  const plain = new JobQueue({ database, pipelines: [work], webhooks: common });
  await plain.enqueue('work', null);
  expect(await endpoint.gets(1)).toMatchObject([{ headers: { 'webhook-id': expect.any(String) } }]);
  await plain.shutdown();
  expect(endpoint.received).toHaveLength(1);
  const again = openQueue({ database, pipelines: [work], webhooks: { ...common, secret: 's' } });
  await again.stats();
  const [, signed] = await endpoint.gets(2);
  expect(signed).toMatchObject({ event: { job: { id } }, headers: { 'webhook-signature': expect.any(String) } });
});
