import Database from 'better-sqlite3';
import { JobQueue, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';

const work = pipeline('work').phase('run', () => 'done');

/** Leaves one job active, held by a runtime that is described by its row. */
async function strand(
  database: string,
  clock: ReturnType<typeof fakeClock>['clock'],
  runtime: { host: string; pid: number } | null,
) {
  const producer = new JobQueue({ database, pipelines: [work], claim: false, clock });
  const id = await producer.enqueue('work', null, { maxAttempts: 2 });
  await producer.shutdown();
  const db = new Database(database);
  if (runtime)
    db.prepare("INSERT INTO millrace_runtimes VALUES ('ghost', ?, ?, 'long ago')").run(runtime.host, runtime.pid);
  db.prepare(
    `UPDATE millrace_jobs SET status = 'active', lease_owner = 'ghost', lease_expires_at = ?, started_at = 1, attempt_at = 1,
     attempt = 1, fence = 1, seq = 1, current_phase = 'run'`,
  ).run(clock.now() + 30_000);
  db.exec("UPDATE millrace_counts SET status = 'active'");
  db.prepare(
    `INSERT INTO millrace_transitions (job_id, seq, pipeline, from_state, to_state, event, attempt, at)
     VALUES (?, 1, 'work', 'pending', 'active.run', 'claimed', 1, 1)`,
  ).run(id);
  db.close();
  return id;
}

test('a job held by a runtime elsewhere is left alone until its lease expires', async () => {
  const time = fakeClock();
  const database = tempDatabase();
  const id = await strand(database, time.clock, { host: 'another-host', pid: 1 });
  const queue = openQueue({ database, pipelines: [work], clock: time.clock });
  await queue.result(await queue.enqueue('work', null));
  expect((await queue.getJob(id))?.status).toBe('active');
  const retrying = nextEvent(queue, 'job:retrying');
  time.advance(30_001);
  expect((await retrying).job).toMatchObject({ id, error: { code: 'interrupted', phase: 'run' } });
  expect(await queue.result(id)).toBe('done');
});

test('a holder that nobody knows is trusted until its lease expires', async () => {
  const time = fakeClock();
  const database = tempDatabase();
  const id = await strand(database, time.clock, null);
  const queue = openQueue({ database, pipelines: [work], clock: time.clock });
  await queue.result(await queue.enqueue('work', null));
  expect((await queue.getJob(id))?.status).toBe('active');
});

test('leases of running jobs are renewed', async () => {
  const time = fakeClock();
  const queue = openQueue({
    pipelines: [pipeline('long').phase('run', () => new Promise<never>(() => {}))],
    clock: time.clock,
    leaseMs: 3_000,
  });
  const started = nextEvent(queue, 'job:started');
  const id = await queue.enqueue('long', null);
  const first = (await started).job.leaseExpiresAt;
  time.advance(1_000);
  await expect.poll(async () => (await queue.getJob(id))?.leaseExpiresAt).toBe((first ?? 0) + 1_000);
});

test('an orphan whose place is beyond a shorter phase list is found, and carried over or failed', async () => {
  for (const [onPhasesChanged, end] of [
    ['migrate', 'completed'],
    ['fail', 'failed'],
  ] as const) {
    const time = fakeClock();
    const database = tempDatabase();
    const long = pipeline('long')
      .phase('first', () => 1)
      .phase('second', () => 2)
      .phase('third', () => new Promise(() => {}));
    const before = new JobQueue({ database, pipelines: [long], clock: time.clock });
    const third = nextEvent(before, 'job:phase:completed', ({ transition }) => transition.phase === 'second');
    const id = await before.enqueue('long', null, { maxAttempts: 2 });
    await third;
    // Its process is gone as far as the next one can tell: another host, whose lease runs out.
    const db = new Database(database);
    db.exec("UPDATE millrace_jobs SET lease_owner = 'ghost'");
    db.close();
    const short = pipeline('long').phase('first', () => 1);
    const queue = openQueue({ database, pipelines: [short], clock: time.clock, onPhasesChanged });
    time.advance(3_600_000);
    await expect.poll(async () => (await queue.getJob(id))?.status, { timeout: 5_000 }).toBe(end);
    await before.shutdown({ timeoutMs: 0, graceMs: 0 }).catch(() => {});
  }
});
