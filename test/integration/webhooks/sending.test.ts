import Database from 'better-sqlite3';
import { JobQueue, type JobQueueConfig, pipeline, type QueueEvents, RecoverableError } from 'millrace';
import { verifyWebhook } from 'millrace/webhooks';
import { expect, onTestFinished, test } from 'vitest';
import { expectLawful } from '../../support/laws.ts';
import { aborted, gate, nextEvent, openQueue } from '../../support/open-queue.ts';
import { receiver } from '../../support/receiver.ts';
import { tempDatabase } from '../../support/temp-database.ts';

const work = pipeline('work')
  .input<string>()
  .phase('run', (job, ctx) => {
    if (job.data === 'retries' && ctx.attempt === 1) throw new RecoverableError('not yet');
    if (job.data === 'fails') throw new Error('broken');
    return job.data;
  })
  .options({ retry: { backoff: { type: 'fixed', baseMs: 0 }, disposition: 'fatal' } });

const webhooks = (url: string, rest: JobQueueConfig['webhooks'] = {}) => ({ url, allowPrivateNetwork: true, ...rest });

test('each of the five events is posted as listeners in the process have it, and no other', async () => {
  const endpoint = await receiver();
  const queue = openQueue({
    pipelines: [work],
    webhooks: webhooks(endpoint.url),
    retention: { staleAfterMs: 0, intervalMs: 20 },
  });
  const heard: QueueEvents['job:completed'][] = [];
  for (const name of ['job:completed', 'job:failed', 'job:retrying', 'job:cancelled', 'job:stale'] as const) {
    queue.on(name, (event) => heard.push(event));
  }
  await queue.enqueue('work', 'completes');
  await queue.enqueue('work', 'fails');
  await queue.enqueue('work', 'retries');
  await queue.cancel(await queue.enqueue('work', 'waits', { delayMs: 60_000 }));
  const received = await endpoint.gets(9);
  const byPosition = (a: { transition: { position: number } }, b: typeof a) =>
    a.transition.position - b.transition.position;
  expect(received.map(({ event }) => event).sort(byPosition)).toEqual(
    JSON.parse(JSON.stringify([...heard].sort(byPosition))),
  );
  expect(new Set(received.map(({ event }) => event.type)).size).toBe(5);
});

test('what is posted is signed both ways and can be verified', async () => {
  const endpoint = await receiver();
  const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw';
  const queue = openQueue({ pipelines: [work], webhooks: webhooks(endpoint.url, { secret }) });
  const id = await queue.enqueue('work', 'süß');
  const [{ headers, body }] = (await endpoint.gets(1)) as [(typeof endpoint.received)[0]];
  expect(verifyWebhook({ headers, body, secret })).toMatchObject({ type: 'job:completed', job: { id, data: 'süß' } });
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'x-jobqueue-signature': expect.stringMatching(/^sha256=[0-9a-f]{64}$/),
    'webhook-id': expect.stringMatching(/^msg_/),
  });
});

test('law 1: what a receiver is told is committed already', async () => {
  const database = tempDatabase();
  const other = { db: null as Database.Database | null };
  onTestFinished(() => void other.db?.close());
  const seen: unknown[] = [];
  const endpoint = await receiver(({ event }) => {
    other.db ??= new Database(database, { readonly: true });
    const entry = other.db.prepare('SELECT to_state FROM millrace_transitions WHERE position = ? AND job_id = ?');
    seen.push(entry.pluck().get(event.transition.position, event.job.id));
    return 200;
  });
  const queue = openQueue({ database, pipelines: [work], webhooks: webhooks(endpoint.url) });
  await queue.enqueueMany(Array.from({ length: 20 }, () => ({ name: 'work', data: 'x' }) as const));
  await endpoint.gets(20);
  expect(seen).toEqual(Array(20).fill('completed'));
});

test('a delivery that arrives is told after the job knows of it, in the row too, and is kept no longer', async () => {
  const database = tempDatabase();
  const endpoint = await receiver();
  const queue = openQueue({ database, pipelines: [work], webhooks: webhooks(endpoint.url) });
  const told = nextEvent(queue, 'job:webhook:delivered');
  const completed = nextEvent(queue, 'job:completed');
  const id = await queue.enqueue('work', 'x');
  expect((await completed).job.webhookSent).toBe(false);
  const event = await told;
  expect(event).toMatchObject({ url: endpoint.url, error: null, attempts: 1, event: 'job:completed' });
  expect(event.deliveryId).toBe(endpoint.received[0]?.id);
  expect(event.job).toMatchObject({ id, webhookSent: true, status: 'completed' });
  expect(await queue.getJob(id)).toEqual(event.job);
  expect(await queue.deliveries(id)).toEqual([]);
  expect((await queue.transitions(id)).map(({ to }) => to)).toEqual(['pending', 'active.run', 'completed']);
  expectLawful(database);
});

test('a job’s own address takes the place of the queue’s, and needs no configuration', async () => {
  const [queues, jobs] = await Promise.all([receiver(), receiver()]);
  const queue = openQueue({ pipelines: [work], webhooks: webhooks(queues.url) });
  await queue.enqueue('work', 'own', { webhookUrl: jobs.url });
  await queue.enqueue('work', 'usual');
  expect(await jobs.gets(1)).toMatchObject([{ event: { job: { data: 'own', webhookUrl: jobs.url } } }]);
  expect(await queues.gets(1)).toMatchObject([{ event: { job: { data: 'usual', webhookUrl: null } } }]);
});

test('only chosen events are sent', async () => {
  const endpoint = await receiver();
  const queue = openQueue({ pipelines: [work], webhooks: webhooks(endpoint.url, { events: ['job:failed'] }) });
  const id = await queue.enqueue('work', 'completes');
  await queue.result(id);
  expect(await queue.deliveries(id)).toEqual([]);
  await queue.enqueue('work', 'fails');
  expect(await endpoint.gets(1)).toMatchObject([
    { event: { type: 'job:failed', job: { error: { message: 'broken' } } } },
  ]);
});

test('deliveries of one job arrive in order, one waiting for the other', async () => {
  const retrying = gate();
  const endpoint = await receiver(({ event }) => {
    if (event.type !== 'job:retrying') return 200;
    return (response) => void retrying.opened.then(() => response.end());
  });
  const queue = openQueue({ pipelines: [work], webhooks: webhooks(endpoint.url) });
  const id = await queue.enqueue('work', 'retries');
  await queue.result(id);
  expect(await endpoint.gets(1)).toMatchObject([{ event: { type: 'job:retrying' } }]);
  expect(await queue.deliveries(id)).toMatchObject([
    { type: 'job:retrying' },
    { type: 'job:completed', nextAttemptAt: null },
  ]);
  retrying.open();
  expect((await endpoint.gets(2)).map(({ event }) => event.type)).toEqual(['job:retrying', 'job:completed']);
});

test('a job that is running when its webhook arrives goes on running, and keeps the news', async () => {
  const hold = gate();
  const twice = pipeline('twice')
    .phase('run', async (_job, ctx) => {
      if (ctx.attempt === 1) throw new RecoverableError('again');
      await hold.opened;
    })
    .options({ retry: { backoff: { type: 'fixed', baseMs: 0 }, disposition: 'fatal' } });
  const endpoint = await receiver();
  const queue = openQueue({ pipelines: [twice], webhooks: webhooks(endpoint.url, { events: ['job:retrying'] }) });
  const started = nextEvent(queue, 'job:started', ({ job }) => job.attempt === 2);
  const told = nextEvent(queue, 'job:webhook:delivered');
  const id = await queue.enqueue('twice', null);
  await started;
  expect((await told).job.webhookSent).toBe(true);
  hold.open();
  await queue.result(id);
  expect(await queue.getJob(id)).toMatchObject({ status: 'completed', webhookSent: true });
});

test('law 3: news for a job that another queue holds does not make it ours, nor is it forgotten', async () => {
  const database = tempDatabase();
  const started = gate();
  const hold = gate();
  const codes: unknown[] = [];
  const held = pipeline('held')
    .phase('run', async (_job, ctx) => {
      if (ctx.attempt === 1) throw new RecoverableError('again');
      started.open();
      void aborted(ctx.signal).then(({ code }) => codes.push(code));
      await hold.opened;
      return 'done';
    })
    .options({ retry: { backoff: { type: 'fixed', baseMs: 0 }, disposition: 'fatal' } });
  const answer = gate();
  const endpoint = await receiver(() => (response) => void answer.opened.then(() => response.end()));
  const options = webhooks(endpoint.url, { events: ['job:retrying'] });
  const holder = openQueue({ database, pipelines: [held], leaseMs: 300, webhooks: { ...options, send: false } });
  const id = await holder.enqueue('held', null);
  await started.opened;
  const sender = openQueue({ database, pipelines: [held], claim: false, webhooks: { ...options, send: true } });
  const told = nextEvent(sender, 'job:webhook:delivered');
  answer.open();
  expect((await told).job).toMatchObject({ status: 'active', webhookSent: true });
  // It would give back, on its way out, whatever it thought it held.
  await sender.shutdown({ timeoutMs: 0 });
  hold.open();
  expect(await holder.result(id)).toBe('done');
  expect(await holder.getJob(id)).toMatchObject({ status: 'completed', webhookSent: true, attempt: 2 });
  expect(codes).toEqual([]);
  expectLawful(database);
});

test('a job whose pipeline has other phases by now stays as it ended, but for the news', async () => {
  const database = tempDatabase();
  const endpoint = await receiver();
  const before = new JobQueue({ database, pipelines: [work], webhooks: webhooks(endpoint.url, { send: false }) });
  const id = await before.enqueue('work', 'x');
  await before.result(id);
  const ended = await before.getJob(id);
  await before.shutdown();
  const longer = pipeline('work')
    .phase('run', () => 1)
    .phase('more', () => 2);
  const queue = openQueue({ database, pipelines: [longer], webhooks: webhooks(endpoint.url) });
  const { job } = await nextEvent(queue, 'job:webhook:delivered');
  expect(job).toEqual({ ...ended, webhookSent: true, updatedAt: job.updatedAt });
  expect(await queue.getJob(id)).toEqual(job);
});
