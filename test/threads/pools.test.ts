import { spawnSync } from 'node:child_process';
import { readdirSync, readlinkSync } from 'node:fs';
import { JobQueue, pipeline, ShutdownTimeoutError, ThreadPool } from 'millrace';
import { describe, expect, test } from 'vitest';
import { gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { tempDatabase } from '../support/temp-database.ts';
import { at } from './at.ts';

const loop = (pool?: string) =>
  pipeline('loop').phase('run', {
    worker: at('loops.js'),
    export: 'byCheckpoint',
    ...(pool === undefined ? {} : { pool }),
  });
const echo = pipeline('echo').phase('run', { worker: at('echo.js') });

test('one phase runs on a thread at a time, and no more than there are threads', async () => {
  const queue = openQueue({ pipelines: [loop()], threads: { count: 2 } });
  let begun = 0;
  const both = gate();
  queue.on('job:progress', () => {
    if (++begun === 2) both.open();
  });
  const ids = await Promise.all([1, 2, 3].map(() => queue.enqueue('loop', null)));
  await both.opened;
  expect((await queue.stats()).jobs).toEqual({ active: 2, pending: 1 });
  for (const id of ids) await queue.cancel(id);
});

test('a slow pipeline in a pool of its own does not starve another', async () => {
  const queue = openQueue({
    pipelines: [loop('slow'), echo],
    threads: { count: 1, pools: { slow: { count: 1 } } },
  });
  const begun = nextEvent(queue, 'job:progress');
  const stuck = await queue.enqueue('loop', null);
  await begun;
  await queue.enqueue('loop', null);
  expect(await queue.result(await queue.enqueue('echo', 1))).toMatchObject({ data: 1 });
  await queue.cancel(stuck);
});

test('a job that moves on to a full lane waits there ahead of new claims', async () => {
  const order: string[] = [];
  const two = pipeline('two')
    .input<string>()
    .phase('inline', () => null)
    .phase('thread', { worker: at('spin.js'), export: 'sleepy' })
    .phase('end', (job) => order.push(job.id));
  const straight = pipeline('straight')
    .phase('thread', { worker: at('spin.js'), export: 'sleepy' })
    .phase('end', (job) => order.push(job.id));
  const queue = openQueue({ pipelines: [two, straight], threads: { count: 1 } });
  const first = await queue.enqueue('straight', { ms: 200 }, { id: 'holds the thread' });
  await nextEvent(queue, 'job:started');
  const waits = await queue.enqueue('two', 'x', { id: 'waits in line' });
  await nextEvent(queue, 'job:phase:completed', ({ job }) => job.id === waits);
  const late = await queue.enqueue('straight', { ms: 1 }, { id: 'came later', priority: 9 });
  await Promise.all([first, waits, late].map((id) => queue.result(id)));
  expect(order).toHaveLength(3);
  expect(order.at(-1)).toBe('came later');
});

test.each([
  [{ count: 0 }, 'config.threads.count'],
  [{ memoryMb: 1 }, 'config.threads.memoryMb'],
  [{ execArgv: '--x' }, 'config.threads.execArgv'],
  [{ env: 'x' }, 'config.threads.env'],
  [{ pools: { slow: { count: -1 } } }, 'config.threads.pools.slow.count'],
  [{ pools: { 'no name': {} } }, 'config.threads.pools'],
  [{ pool: {} }, 'config.threads.pool'],
  [{ printLogs: 1 }, 'config.threads.printLogs'],
  [{ badHandler: 'ignore' }, 'config.threads.badHandler'],
])('threads: %j is refused by name', (threads, field) => {
  expect(() => openQueue({ pipelines: [echo], threads: threads as never })).toThrow(field);
});

test('a phase in a pool that does not exist is refused with the pools there are', () => {
  expect(() => openQueue({ pipelines: [loop('fast')], threads: { pools: { slow: {} } } })).toThrow(
    'has no "fast", which phase "run" of pipeline "loop" runs in; there are default, slow',
  );
});

test('threads have the environment and Node options they are given', async () => {
  const look = pipeline('look').phase('run', { worker: at('look-around.js') });
  const queue = openQueue({
    pipelines: [look],
    threads: { count: 1, env: { MILL: 'race' }, execArgv: ['--no-warnings'] },
  });
  expect(await queue.result(await queue.enqueue('look', null))).toEqual({ mill: 'race', execArgv: ['--no-warnings'] });
});

/** A program that runs one job on a thread; answers with what it prints, errors first. */
function runProgram(options: readonly string[]): string {
  const script = `
    import { JobQueue, pipeline } from 'millrace';
    const echo = pipeline('echo').phase('run', { worker: new URL('echo.js', ${JSON.stringify(at('').href)}), export: 'shout' });
    const queue = new JobQueue({ database: ':memory:', pipelines: [echo], threads: { count: 1 } });
    console.log(await queue.result(await queue.enqueue('echo', 'ran')));
    await queue.shutdown();
  `;
  const given = options.includes('-e') ? [...options, script] : [...options, '-'];
  const child = spawnSync(process.execPath, given, {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
    input: script,
    timeout: 20_000,
  });
  return child.stderr + child.stdout;
}

test.each([
  [['--max-old-space-size=512', '--expose-gc', '--import', 'data:text/javascript,']],
  [['--input-type=module', '--max-old-space-size=512', '-e']],
])('a program started with %j has threads, too', (options) => {
  expect(runProgram(options)).toBe('RAN\n');
});

test('a producer-only queue starts no threads', async () => {
  const producer = openQueue({ pipelines: [echo], claim: false });
  await producer.enqueue('echo', null);
  expect(process.getActiveResourcesInfo().filter((name) => name === 'MessagePort')).toEqual([]);
});

describe('the pool alone', () => {
  test('runs a handler and answers with its outcome', async () => {
    const pool = new ThreadPool({ count: 1, onError: () => {} });
    const run = pool.run({
      handler: { file: at('echo.js').href, export: 'shout' },
      job: { data: 'quiet' } as never,
      phase: 'run',
      carried: null,
      maxPayloadBytes: 1_000,
      blobRules: { maxBlobBytes: 0, shared: false },
      maxExternalBytes: null,
      printLogs: false,
      graceMs: 100,
      cpuMs: null,
      onProgress() {},
      onLog() {},
      blobsOf: async () => [],
    });
    expect(pool.busy).toBe(1);
    expect(await run.outcome).toMatchObject({ ok: true, result: 'QUIET' });
    await pool.close();
  });
});

test('a queue whose threads cannot be made closes its file', () => {
  const database = tempDatabase();
  const threads = { count: 1, execArgv: ['--max-old-space-size=64'] };
  expect(() => openQueue({ database, pipelines: [echo], threads })).toThrow(/execArgv|--max-old-space-size/);
  const open = readdirSync('/proc/self/fd').map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return '';
    }
  });
  expect(open.filter((file) => file.startsWith(database))).toEqual([]);
});

test('a job waits for its thread on its own time limit, but not on that of its phase', async () => {
  const hold = pipeline('hold').phase('run', { worker: at('spin.js'), export: 'sleepy' });
  const byJobLimit = pipeline('byJob')
    .phase('inline', () => null)
    .phase('thread', { worker: at('echo.js') });
  const byPhaseLimit = pipeline('byPhase')
    .phase('inline', () => null)
    .phase('thread', { worker: at('echo.js'), timeoutMs: 300 });
  const queue = openQueue({ pipelines: [hold, byJobLimit, byPhaseLimit], threads: { count: 1 } });
  await queue.enqueue('hold', { ms: 600 });
  await nextEvent(queue, 'job:started');
  const [byJob, byPhase] = await Promise.all([
    queue.enqueue('byJob', null, { timeoutMs: 100, maxAttempts: 1 }),
    queue.enqueue('byPhase', null, { timeoutMs: 60_000 }),
  ]);
  await expect(queue.result(byJob)).rejects.toThrow("ran past the job's timeoutMs of 100");
  await queue.result(byPhase);
});

test.each([
  [2, 'are claimed ahead', (most: number) => expect(most).toBeGreaterThan(1)],
  [1, 'have no attempt to lose, and are not', (most: number) => expect(most).toBe(1)],
])('short jobs with %i attempt(s) %s', async (maxAttempts, _what, expectMost) => {
  const short = pipeline('short').phase('run', { worker: at('echo.js') });
  const queue = openQueue({ pipelines: [short], threads: { count: 1 } });
  const active = new Set<string>();
  let most = 0;
  queue.on('job:started', ({ job }) => {
    most = Math.max(most, active.add(job.id).size);
  });
  queue.on('job:completed', ({ job }) => active.delete(job.id));
  const jobs = Array.from({ length: 100 }, () => ({ name: 'short', data: null, options: { maxAttempts } }) as const);
  const ids = await queue.enqueueMany(jobs);
  await Promise.all(ids.map((id) => queue.result(id)));
  expectMost(most);
});

/** A quick inline phase, and a slow one on the only thread. */
const funnel = pipeline('funnel')
  .phase('quick', () => null)
  .phase('slow', { worker: at('spin.js'), export: 'sleepy' });

test('jobs are not set going that would only stand in line for a thread', async () => {
  const queue = openQueue({ pipelines: [funnel], concurrency: 5, threads: { count: 1 } });
  const ids = await queue.enqueueMany(
    Array.from({ length: 200 }, () => ({ name: 'funnel', data: { ms: 30 } }) as const),
  );
  let most = 0;
  queue.on('job:started', async () => {
    most = Math.max(most, (await queue.stats()).jobs.active ?? 0);
  });
  await queue.result(ids[10] ?? '');
  // On the thread and in line for it one each, and two rounds of inline phases: one on its way there, one just claimed.
  expect(most).toBeLessThanOrEqual(1 + 1 + 5 + 5);
});

test('shutdown gives back everything that stands in line, however long it is', async () => {
  const queue = new JobQueue({
    database: ':memory:',
    pipelines: [funnel],
    concurrency: 5_000,
    threads: { count: 1 },
    onShutdown: 'release',
  });
  const first = nextEvent(queue, 'job:phase:completed');
  await queue.enqueueMany(Array.from({ length: 5_000 }, () => ({ name: 'funnel', data: { ms: 3_600_000 } }) as const));
  await first;
  await expect(queue.shutdown({ timeoutMs: 0, graceMs: 0 })).rejects.toThrow(ShutdownTimeoutError);
});
