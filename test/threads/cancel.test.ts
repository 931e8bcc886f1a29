import Database from 'better-sqlite3';
import { JobQueue, pipeline, type StopReason } from 'millrace';
import { describe, expect, onTestFinished, test } from 'vitest';
import { expectLawful } from '../support/laws.ts';
import { gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';
import { at } from './at.ts';

const first = (name: string, graceMs: number) =>
  pipeline('loop')
    .phase('before', () => 'kept')
    .phase('loop', { worker: at('loops.js'), export: name, graceMs });

const running = (queue: Pick<JobQueue, 'stats'>) =>
  expect.poll(async () => (await queue.stats()).running, { timeout: 10_000 });

describe('law 6, a runaway is stopped: a tight loop on a thread is cancelled', () => {
  test.each(['byCheckpoint', 'byAborted', 'byThrowIfAborted', 'byListening'])('%s', async (name) => {
    const database = tempDatabase();
    // A grace period nobody will wait for: these stop by themselves.
    const queue = openQueue({ database, pipelines: [first(name, 3_600_000)], threads: { count: 1 } });
    const begun = nextEvent(queue, 'job:progress');
    const id = await queue.enqueue('loop', null);
    await begun;
    const told: string[] = [];
    queue.on('job:cancelled', ({ job }) => told.push(job.id));
    const job = await queue.cancel(id, 'changed my mind');
    expect(job).toMatchObject({ status: 'cancelled', reason: 'changed my mind', phaseResults: { before: 'kept' } });
    await running(queue).toBe(0);
    expect(told).toEqual([id]);
    expectLawful(database);
  });

  test('by force, when it listens to nothing; and a fresh thread takes over', async () => {
    const loops = first('byForce', 50);
    const echo = pipeline('echo').phase('run', { worker: at('echo.js') });
    const queue = openQueue({ pipelines: [loops, echo], threads: { count: 1 } });
    const begun = nextEvent(queue, 'job:progress');
    const id = await queue.enqueue('loop', null);
    await begun;
    await queue.cancel(id);
    // There is one thread: this job can only run once the other one is really gone.
    const after = await queue.enqueue('echo', 'next');
    expect((await queue.getJob(after))?.status).toBe('pending');
    expect(await queue.result(after)).toMatchObject({ data: 'next' });
    expect(await queue.getJob(id)).toMatchObject({ status: 'cancelled' });
  });
});

test('many threads may be ended at once', async () => {
  const warnings: string[] = [];
  const warned = ({ name }: Error) => warnings.push(name);
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const loops = pipeline('loop').phase('loop', { worker: at('loops.js'), export: 'byForce', graceMs: 0 });
  const queue = openQueue({ pipelines: [loops], threads: { count: 12 } });
  const begun = new Set<string>();
  const all = gate();
  queue.on('job:progress', ({ job }) => begun.add(job.id).size === 12 && all.open());
  const ids = await queue.enqueueMany(Array.from({ length: 12 }, () => ({ name: 'loop', data: null }) as const));
  await all.opened;
  await Promise.all(ids.map((id) => queue.cancel(id)));
  await running(queue).toBe(0);
  expect(warnings).toEqual([]);
});

test('a thread stuck in native code keeps its slot until it is really gone', async () => {
  const stuck = pipeline('stuck').phase('native', { worker: at('native.js'), graceMs: 10 });
  const echo = pipeline('echo').phase('run', { worker: at('echo.js') });
  const queue = openQueue({ pipelines: [stuck, echo], threads: { count: 1 } });
  const begun = nextEvent(queue, 'job:progress');
  const id = await queue.enqueue('stuck', null);
  await begun;
  await queue.cancel(id);
  const after = await queue.enqueue('echo', 'next');
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect((await queue.stats()).running).toBe(1);
  expect((await queue.getJob(after))?.status).toBe('pending');
  expect(await queue.result(after)).toMatchObject({ data: 'next' });
});

test('a result that comes after the cancel is discarded', async () => {
  const queue = openQueue({ pipelines: [first('stubborn', 3_600_000)], threads: { count: 1 } });
  const begun = nextEvent(queue, 'job:progress');
  const id = await queue.enqueue('loop', null);
  await begun;
  await queue.cancel(id);
  await running(queue).toBe(0);
  expect(await queue.getJob(id)).toMatchObject({ status: 'cancelled', phaseResults: { before: 'kept' } });
});

/** Says, in its job's log, with which code it was stopped. */
const reasons = pipeline('reasons').phase('run', { worker: at('reasons.js'), graceMs: 3_600_000 });

describe('the handler hears why it is stopped', () => {
  async function begin(database: string) {
    const queue = openQueue({ database, pipelines: [reasons], threads: { count: 1 }, leaseMs: 300 });
    const begun = nextEvent(queue, 'job:progress');
    const id = await queue.enqueue('reasons', null);
    await begun;
    return { queue, id };
  }

  const cases: readonly (readonly [StopReason, (queue: JobQueue, id: string, database: string) => unknown])[] = [
    ['cancelled', (queue, id) => queue.cancel(id)],
    ['paused', (queue, id) => queue.pause(id)],
    ['already_completed', (queue, id) => queue.complete(id, 'from outside')],
    [
      'taken_by_another_worker',
      (_queue, id, database) => {
        const thief = new Database(database);
        thief
          .prepare("UPDATE millrace_jobs SET fence = 9, lease_owner = 'thief', lease_expires_at = 9e15 WHERE id = ?")
          .run(id);
        thief.close();
      },
    ],
    [
      'not_found',
      (_queue, id, database) => {
        const thief = new Database(database);
        thief.prepare('DELETE FROM millrace_jobs WHERE id = ?').run(id);
        thief.prepare('DELETE FROM millrace_counts').run();
        thief.close();
      },
    ],
  ];

  test.each(cases)('%s', async (code, end) => {
    const database = tempDatabase();
    const { queue, id } = await begin(database);
    const heard = nextEvent(queue, 'error');
    await end(queue as unknown as JobQueue, id, database);
    // The handler throws the code once its phase is over, when nobody is looking: the pool reports it.
    expect(String((await heard).error)).toContain(`heard ${code}`);
  });

  test('shutdown: the job is given back, without losing an attempt', async () => {
    const database = tempDatabase();
    const queue = new JobQueue({ database, pipelines: [reasons], threads: { count: 1 } });
    const begun = nextEvent(queue, 'job:progress');
    const id = await queue.enqueue('reasons', null);
    await begun;
    await expect(queue.shutdown({ timeoutMs: 0, graceMs: 5_000 })).rejects.toMatchObject({ jobIds: [id] });
    const reader = openQueue({ database, pipelines: [], claim: false });
    expect(await reader.getJob(id)).toMatchObject({ status: 'pending', attempt: 0 });
    expect((await reader.logs(id)).map(({ text }) => text)).toEqual(['heard shutdown']);
  });
});

test('shutdown always ends: a thread that ignores everything is ended, and its job released', async () => {
  const database = tempDatabase();
  const queue = new JobQueue({ database, pipelines: [first('byForce', 3_600_000)], threads: { count: 1 } });
  const begun = nextEvent(queue, 'job:progress');
  const id = await queue.enqueue('loop', null);
  await begun;
  await expect(queue.shutdown({ timeoutMs: 0, graceMs: 20 })).rejects.toMatchObject({ jobIds: [id] });
  const reader = openQueue({ database, pipelines: [], claim: false });
  expect(await reader.getJob(id)).toMatchObject({
    status: 'pending',
    attempt: 0,
    phaseIndex: 1,
    phaseResults: { before: 'kept' },
  });
  expectLawful(database);
});

test('a job that is resumed while its thread is still being stopped waits for the thread to be gone', async () => {
  const loops = pipeline('loop').phase('loop', { worker: at('loops.js'), export: 'byForce', graceMs: 200 });
  const queue = openQueue({ pipelines: [loops], threads: { count: 2 } });
  const begun = nextEvent(queue, 'job:progress');
  const id = await queue.enqueue('loop', null);
  await begun;
  await queue.pause(id);
  const again = nextEvent(queue, 'job:started');
  await queue.resume(id);
  await again;
  expect((await queue.stats()).running).toBe(1);
  await queue.cancel(id);
});

test('a time limit holds for a thread phase whose data is being checked without end', async () => {
  let checks = 0;
  const schema = {
    '~standard': {
      version: 1,
      vendor: 'test',
      validate: (value: unknown) => (checks++ === 0 ? { value } : new Promise<{ value: unknown }>(() => {})),
    },
  } as const;
  const slow = pipeline('slow')
    .input(schema)
    .phase('run', { worker: at('echo.js'), timeoutMs: 20 });
  const queue = openQueue({ pipelines: [slow], threads: { count: 1 } });
  const id = await queue.enqueue('slow', null);
  await expect(queue.result(id)).rejects.toThrow('ran past its timeoutMs of 20');
  expect(await queue.getJob(id)).toMatchObject({ error: { outcome: 'timeout' } });
});
