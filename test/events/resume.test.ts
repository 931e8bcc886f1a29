import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { type JobQueue, pipeline } from 'millrace';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { openQueue } from '../support/open-queue.ts';
import { finish, jobsOf, logOf, type Message, newestOf, readStream, toldOf, upTo } from '../support/sse.ts';
import { tempDatabase, tempFolder } from '../support/temp-database.ts';

const two = pipeline('two')
  .input<unknown>()
  .phase('first', () => 1)
  .phase('second', () => 2);

function many(count: number, data: unknown = null) {
  return Array.from({ length: count }, () => ({ name: 'two', data }) as const);
}

async function run(queue: JobQueue<readonly [typeof two]>, count: number): Promise<string[]> {
  const ids = await queue.enqueueMany(many(count));
  await finish(queue, ids);
  return ids;
}

describe('law 5, a reader that resumes', () => {
  test('sees everything after its position once, while thousands of events are being committed', async () => {
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two], concurrency: 64 });
    await run(queue, 1_000);
    const stream = readStream(queue.createEventStream({ lastEventId: '777' }));
    const load = run(queue, 1_500).then(() => run(queue, 500));
    const messages = await stream.until(upTo(3_000 * 4));
    await load;
    expect(toldOf(messages)).toEqual(logOf(database, 777));
  });

  test('sees the log without a gap or duplicate, wherever it drops', async () => {
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two] });
    await run(queue, 5);
    const newest = newestOf(database);
    const seen: Message[] = [];
    // One message per connection: every place there is to drop at is dropped at, also between two names of one entry.
    let lastEventId = '0';
    while (lastEventId !== String(newest)) {
      const stream = readStream(queue.createEventStream({ lastEventId }));
      const [, message] = [await stream.next(), await stream.next()];
      if (!message) throw new Error('The stream ended.');
      seen.push(message);
      lastEventId = message.id ?? lastEventId;
      await stream.reader.cancel();
    }
    expect(toldOf(seen)).toEqual(logOf(database));
    expect(seen.some(({ id }) => id?.includes('.'))).toBe(true);
  });

  test('sees the second name of an entry after the first, and again nothing else', async () => {
    const queue = openQueue({ pipelines: [two] });
    await run(queue, 1);
    const messages = await readStream(queue.createEventStream({ lastEventId: '3.1' })).until(upTo(4));
    expect(messages.map(({ event, id }) => [event, id])).toEqual([
      ['ping', '3.1'],
      ['job:completed', '4'],
    ]);
  });

  test('has an id to resume from before the first event', async () => {
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two] });
    await run(queue, 3);
    const stream = readStream(queue.createEventStream());
    const { id } = (await stream.next()) ?? {};
    await stream.reader.cancel();
    await run(queue, 3);
    const messages = await readStream(queue.createEventStream({ lastEventId: id ?? null })).until(upTo(24));
    expect(toldOf(messages)).toEqual(logOf(database, 12));
  });

  test('is served by another queue on the file, opened later', async () => {
    const database = tempDatabase();
    const first = openQueue({ database, pipelines: [two] });
    await run(first, 10);
    await first.shutdown();
    const second = openQueue({ database, pipelines: [two] });
    await run(second, 10);
    const messages = await readStream(second.createEventStream({ lastEventId: 13 })).until(upTo(80));
    expect(toldOf(messages)).toEqual(logOf(database, 13));
  });
});

describe('a position the log does not have', () => {
  const unknown: readonly (readonly [what: string, lastEventId: string | number])[] = [
    ['beyond the newest', '9'],
    ['beyond the newest by a name', '8.1'],
    ['not a number', 'abc'],
    ['a negative one', -1],
    ['not a whole one', '1.5'],
    ['a number in another spelling', '1e0'],
    ['NaN', Number.NaN],
    ['one of more digits than there are', '1'.repeat(16)],
  ];
  test.each(unknown)('%s: one reset, a fresh snapshot, then the log goes on', async (_, lastEventId) => {
    const queue = openQueue({ pipelines: [two] });
    const ids = await run(queue, 2);
    const stream = readStream(queue.createEventStream({ lastEventId }));
    const [reset, ...parts] = await stream.until(({ event, data }) => event === 'snapshot' && data.done);
    expect(reset).toEqual({ event: 'reset', id: undefined, data: { type: 'reset', reason: 'unknown' } });
    expect(jobsOf(parts).map(({ id }) => id)).toEqual([...ids].reverse());
    expect(parts.at(-1)?.id).toBe('8');
    await run(queue, 1);
    const after = await stream.until(upTo(12));
    expect(after.map(({ event }) => event)).not.toContain('reset');
    expect(toldOf(after)[0]).toBe('9 job:enqueued');
  });

  test.each<[string, number, boolean]>([
    ['before the oldest kept entry', 8, true],
    ['right before it', 9, false],
    ['at it', 10, false],
  ])('pruned, %s: %i resets: %s', async (_, lastEventId, resets) => {
    const { clock, advance } = fakeClock();
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two], clock, retention: { logMaxCount: 3, intervalMs: 1_000 } });
    await run(queue, 3);
    advance(1_000);
    await expect.poll(() => logOf(database)[0]).toMatch(/^10 /);
    const messages = await readStream(queue.createEventStream({ lastEventId })).until(upTo(12));
    expect(messages[0]).toMatchObject(resets ? { event: 'reset', data: { reason: 'pruned' } } : { event: 'ping' });
    if (!resets) expect(toldOf(messages)).toEqual(logOf(database, lastEventId));
  });

  test('pruned down to nothing, resets older readers and keeps the newest', async () => {
    const { clock, advance } = fakeClock();
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two], clock, retention: { logMaxCount: 0, intervalMs: 1_000 } });
    await run(queue, 2);
    advance(1_000);
    await expect.poll(() => logOf(database)).toEqual([]);
    expect(await readStream(queue.createEventStream({ lastEventId: 7 })).next()).toMatchObject({ event: 'reset' });
    expect(await readStream(queue.createEventStream({ lastEventId: 8 })).next()).toMatchObject({
      event: 'ping',
      id: '8',
    });
  });

  test('pruned from under a reader that has stalled, resets it when it comes back', async () => {
    const { clock, advance } = fakeClock();
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two], clock, retention: { logMaxCount: 10, intervalMs: 1_000 } });
    const stream = readStream(queue.createEventStream());
    await stream.next();
    const ids = await queue.enqueueMany(many(200, 'x'.repeat(1_000)));
    await finish(queue, ids);
    advance(1_000);
    await expect.poll(() => logOf(database)[0]).toMatch(/^791 /);
    const messages = await stream.until(({ event, data }) => event === 'snapshot' && data.done);
    const at = messages.findIndex(({ event }) => event === 'reset');
    expect(messages[at]).toMatchObject({ id: undefined, data: { reason: 'pruned' } });
    const before = toldOf(messages.slice(0, at));
    expect(before.length).toBeGreaterThan(0);
    expect(before).toEqual(before.map((_, index) => `${index + 1} job:enqueued`));
    expect(
      jobsOf(messages.slice(at))
        .map(({ id }) => id)
        .sort(),
    ).toEqual([...ids].sort());
    expect(messages.at(-1)?.id).toBe('800');
  });
});

describe('a snapshot', () => {
  test('comes first, in parts, and its end is where events go on', async () => {
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two] });
    const ids = await run(queue, 300);
    const stream = readStream(queue.createEventStream({ snapshot: true }));
    const parts = await stream.until(({ data }) => data.done);
    expect(parts.map(({ event }) => event)).toEqual(parts.map(() => 'snapshot'));
    expect(parts.map(({ data }) => data.part)).toEqual(parts.map((_, index) => index));
    expect(parts.length).toBeGreaterThan(10);
    expect(parts.map(({ id }) => id)).toEqual([...parts.slice(1).map(() => undefined), '1200']);
    expect(jobsOf(parts).map(({ id }) => id)).toEqual([...ids].reverse());
    expect(jobsOf(parts)[0]).toEqual(await queue.getJob(ids.at(-1) ?? ''));
    await run(queue, 2);
    expect(toldOf(await stream.until(upTo(1_208)))).toEqual(logOf(database, 1_200));
  });

  test('of nothing is one empty part', async () => {
    const queue = openQueue({ pipelines: [two], claim: false });
    const part = await readStream(queue.createEventStream({ snapshot: true })).next();
    expect(part).toEqual({
      event: 'snapshot',
      id: '0',
      data: { type: 'snapshot', position: 0, part: 0, done: true, jobs: [] },
    });
  });

  test('is not sent to a client that resumes', async () => {
    const queue = openQueue({ pipelines: [two] });
    await run(queue, 1);
    const messages = await readStream(queue.createEventStream({ snapshot: true, lastEventId: 2 })).until(upTo(4));
    expect(messages[0]).toMatchObject({ event: 'ping', id: '2' });
    expect(toldOf(messages)[0]).toBe('3 job:phase:completed');
  });

  test.each<[string, null | '' | undefined]>([
    ['null', null],
    ['an empty string', ''],
    ['undefined', undefined],
  ])('is sent to a client whose last id is %s: it has none', async (_, lastEventId) => {
    const queue = openQueue({ pipelines: [two] });
    await run(queue, 1);
    const options = lastEventId === undefined ? { snapshot: true } : { snapshot: true, lastEventId };
    expect(await readStream(queue.createEventStream(options)).next()).toMatchObject({ event: 'snapshot', id: '4' });
  });

  test('taken while jobs run and the events after it add up to what there is', async () => {
    const queue = openQueue({ pipelines: [two], concurrency: 32 });
    await run(queue, 200);
    const load = run(queue, 400);
    const stream = readStream(queue.createEventStream({ snapshot: true }));
    const known = new Map<string, { seq: number; status: string }>();
    let events = 0;
    let before = 0;
    await stream.until(({ event, id, data }) => {
      for (const job of event === 'snapshot' ? data.jobs : []) known.set(job.id, job);
      if (data.transition && data.job.seq >= (known.get(data.job.id)?.seq ?? -1)) known.set(data.job.id, data.job);
      if (data.transition) {
        events++;
        expect(data.transition.position).toBeGreaterThanOrEqual(before);
        before = data.transition.position;
      }
      return id === '2400';
    });
    await load;
    expect(events).toBeGreaterThan(0);
    const { jobs } = await queue.listJobs({ limit: 1_000 });
    expect(known.size).toBe(600);
    for (const job of jobs) expect(known.get(job.id)).toEqual(job);
  });
});

describe('what others commit on the same file', () => {
  test('a process that runs the jobs is seen by the process that watches', async () => {
    const folder = tempFolder();
    const database = join(folder, 'jobs.db');
    const work = pipeline('work')
      .phase('first', () => 1)
      .phase('second', () => 2)
      .options({ retry: { maxAttempts: 20, disposition: 'fatal' } });
    const queue = openQueue({ database, pipelines: [work], claim: false });
    const stream = readStream(queue.createEventStream());
    const ids = await queue.enqueueMany(Array.from({ length: 100 }, () => ({ name: 'work', data: null }) as const));
    const worker = new URL('../crash/worker.js', import.meta.url).pathname;
    const child = spawn(process.execPath, [worker, database, join(folder, 'diary'), 'never', '0'], {
      stdio: 'inherit',
    });
    // Meanwhile this process commits too: what the log mixes, the stream tells mixed.
    const cancelled = await queue.enqueueMany(
      Array.from({ length: 50 }, () => ({ name: 'work', data: null, options: { delayMs: 60_000 } }) as const),
    );
    for (const id of cancelled) await queue.cancel(id);
    const messages = await stream.until(upTo(100 * 4 + 50 * 2));
    child.kill('SIGKILL');
    expect(toldOf(messages)).toEqual(logOf(database));
    expect(messages.filter(({ event }) => event === 'job:completed')).toHaveLength(ids.length);
  });

  test('is not overtaken by what this process tells of its own', async () => {
    // Time stands still for the watcher: it does not look, it only hears of its own commits.
    const { clock } = fakeClock();
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two], claim: false, clock });
    const other = openQueue({ database, pipelines: [two], claim: false });
    const stream = readStream(queue.createEventStream());
    // It has looked, found nothing, and will not look again unless this process commits.
    for (let i = 0; i < 10; i++) await new Promise(setImmediate);
    await other.enqueue('two', null, { id: 'theirs' });
    await queue.enqueue('two', null, { id: 'ours' });
    await other.enqueue('two', null, { id: 'theirs too' });
    await other.cancel('ours');
    await queue.enqueue('two', null, { id: 'ours too' });
    const messages = await stream.until(upTo(5));
    expect(messages.slice(1).map(({ event, data }) => `${event} ${data.job.id}`)).toEqual([
      'job:enqueued theirs',
      'job:enqueued ours',
      'job:enqueued theirs too',
      'job:cancelled ours',
      'job:enqueued ours too',
    ]);
  });
});
