/** Webhooks through processes that are killed, and receivers that misbehave. */
import { type ChildProcess, spawn } from 'node:child_process';
import Database from 'better-sqlite3';
import { JobQueue, pipeline } from 'millrace';
import { verifyWebhook } from 'millrace/webhooks';
import { expect, onTestFinished, test } from 'vitest';
import { expectLawful } from '../support/laws.ts';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { type Receiver, receiver } from '../support/receiver.ts';
import { tempDatabase } from '../support/temp-database.ts';

const SENDER = new URL('./webhook-sender.js', import.meta.url).pathname;

const work = pipeline('work')
  .phase('run', () => 'done')
  .options({ retry: { maxAttempts: 50, disposition: 'fatal' } });

async function seed(database: string, jobs: number): Promise<void> {
  const producer = new JobQueue({ database, pipelines: [work], claim: false });
  await producer.enqueueMany(Array.from({ length: jobs }, () => ({ name: 'work', data: null }) as const));
  await producer.shutdown();
}

function start(database: string, url: string, timeoutMs: number): ChildProcess {
  const child = spawn(process.execPath, [SENDER, database, url, String(timeoutMs)], {
    stdio: ['ignore', 'inherit', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return child;
}

/** Waits until every job has ended and nothing is owed; answers with what had to be sent, per job in order. */
async function everythingSent(database: string, jobs: number): Promise<ReadonlyMap<string, readonly number[]>> {
  const db = new Database(database, { readonly: true, timeout: 5_000 });
  onTestFinished(() => void db.close());
  const state = () => ({
    completed: db.prepare("SELECT count(*) FROM millrace_jobs WHERE status = 'completed'").pluck().get(),
    owed: db.prepare('SELECT count(*) FROM millrace_deliveries').pluck().get(),
    unaware: db.prepare('SELECT count(*) FROM millrace_jobs WHERE webhook_sent = 0').pluck().get(),
  });
  await expect.poll(state, { timeout: 100_000, interval: 50 }).toEqual({ completed: jobs, owed: 0, unaware: 0 });
  const entries = db
    .prepare(
      "SELECT job_id, seq FROM millrace_transitions WHERE to_state IN ('retrying', 'completed') ORDER BY position",
    )
    .all() as { job_id: string; seq: number }[];
  const expected = new Map<string, number[]>();
  for (const { job_id, seq } of entries) expected.set(job_id, [...(expected.get(job_id) ?? []), seq]);
  return expected;
}

/** The numbers of the transitions each job's requests told of, in the order they came. */
function arrivals({ received }: Receiver): ReadonlyMap<string, readonly number[]> {
  const byJob = new Map<string, number[]>();
  for (const { event } of received) {
    byJob.set(event.job.id, [...(byJob.get(event.job.id) ?? []), event.transition.seq]);
  }
  return byJob;
}

test('a thousand webhooks to a flaky receiver, from a sender that is killed, all arrive, and in order per job', async () => {
  const database = tempDatabase();
  const JOBS = 500;
  const kills = [100, 300, 600, 900, 1_200];
  let child: ChildProcess;
  const accepted = new Set<string>();
  const endpoint = await receiver(({ id, headers, body }, n) => {
    if (n === kills[0]) {
      kills.shift();
      // Sent, and perhaps even accepted: the sender cannot know.
      child.once('exit', () => {
        child = start(database, endpoint.url, 300);
      });
      child.kill('SIGKILL');
      if (n % 200 === 0) accepted.add(id);
      return n % 200 === 0 ? 200 : () => {};
    }
    if (n % 7 === 0) return 500;
    if (n % 11 === 0) return (_response, request) => void request.socket.destroy();
    if (n % 97 === 0) return () => {};
    verifyWebhook({ headers, body, secret: 's3cret' });
    accepted.add(id);
    return 200;
  });
  await seed(database, JOBS);
  child = start(database, endpoint.url, 300);
  const expected = await everythingSent(database, JOBS);
  child.removeAllListeners('exit');
  child.kill('SIGKILL');

  expect(kills).toEqual([]);
  expectLawful(database);
  const owed = [...expected.values()].flat().length;
  expect(owed).toBeGreaterThanOrEqual(1_000);
  expect(accepted.size).toBe(owed);
  const arrived = arrivals(endpoint);
  expect(arrived.size).toBe(JOBS);
  for (const [id, seqs] of arrived) {
    expect([...new Set(seqs)]).toEqual(expected.get(id));
    expect(seqs).toEqual([...seqs].sort((a, b) => a - b));
  }
  // The same news always comes under the same id, and with the same words.
  const words = new Map(endpoint.received.map(({ id, body }) => [id, body]));
  expect(words.size).toBe(owed);
  for (const { id, body } of endpoint.received) expect(body).toBe(words.get(id));
}, 120_000);

test('two processes on one file send each webhook once', async () => {
  const database = tempDatabase();
  const JOBS = 200;
  await seed(database, JOBS);
  const endpoint = await receiver();
  for (let i = 0; i < 2; i++) start(database, endpoint.url, 60_000);
  const expected = await everythingSent(database, JOBS);
  expect(arrivals(endpoint)).toEqual(expected);
}, 60_000);

test('what a killed process was sending is taken over by one that lives', async () => {
  const database = tempDatabase();
  const endpoint = await receiver((_, n) => (n === 1 ? () => {} : 200));
  const config = {
    database,
    pipelines: [work],
    leaseMs: 300,
    webhooks: { url: endpoint.url, secret: 's3cret', allowPrivateNetwork: true, timeoutMs: 600_000 },
  } as const;
  const living = openQueue({ ...config, webhooks: { ...config.webhooks, events: ['job:failed'] } });
  const told = nextEvent(living, 'job:webhook:delivered');
  const script = `
    import { JobQueue, pipeline } from 'millrace';
    const work = pipeline('work').phase('run', () => 'done');
    const queue = new JobQueue({ ...${JSON.stringify({ ...config, pipelines: [] })}, pipelines: [work] });
    await queue.cancel(await queue.enqueue('work', null, { id: 'taken-over', delayMs: 60_000 }));
  `;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('../..', import.meta.url).pathname,
    stdio: 'inherit',
  });
  await endpoint.gets(1);
  child.kill('SIGKILL');
  expect(await told).toMatchObject({ attempts: 1, job: { id: 'taken-over', webhookSent: true } });
  expect(endpoint.received.map(({ id }) => id)).toEqual(Array(2).fill(endpoint.received[0]?.id));
});
