import { getEventListeners } from 'node:events';
import { type EventStreamOptions, JobQueue, pipeline, ShuttingDownError } from 'millrace';
import { describe, expect, onTestFinished, test } from 'vitest';
import { EventStreams } from '../../src/runtime/journal/event-streams.ts';
import { requireStreamOptions } from '../../src/runtime/journal/stream-options.ts';
import { Teller } from '../../src/runtime/journal/teller.ts';
import { SqliteStore } from '../../src/runtime/store/sqlite/sqlite-store.ts';
import { Harness } from '../conformance/harness.ts';
import { fakeClock } from '../support/fake-clock.ts';
import { gate, openQueue } from '../support/open-queue.ts';
import { logOf, readStream, toldOf } from '../support/sse.ts';
import { tempDatabase } from '../support/temp-database.ts';

const one = pipeline('one').phase('only', () => 1);

/** The streams of a queue without the queue, so that what they hold can be counted. */
function streams() {
  const { clock, waiting, advance } = fakeClock();
  const harness = new Harness((phaseLists) => new SqliteStore({ database: ':memory:', phaseLists }));
  onTestFinished(() => harness.store.close());
  const teller = new Teller({});
  const all = new EventStreams({ store: harness.store, teller, clock });
  return {
    harness,
    teller,
    all,
    advance,
    open: (options: EventStreamOptions = {}) => readStream(all.open(requireStreamOptions(options))),
    /** Timers and listeners. */
    held: () => waiting() + Number(teller.bus.has('job:progress')) + Number(teller.bus.has('job:webhook:failed')),
  };
}

describe('everything a stream holds', () => {
  test('is let go when its reader cancels', async () => {
    const { open, held } = streams();
    expect(held()).toBe(0);
    const [first, second] = [open(), open({ snapshot: true })];
    await first.next();
    expect(held()).toBeGreaterThan(0);
    await first.reader.cancel();
    expect(held()).toBeGreaterThan(0);
    await second.reader.cancel();
    expect(held()).toBe(0);
  });

  test('is let go when its signal aborts, and the reader is at the end', async () => {
    const { open, held } = streams();
    const stop = new AbortController();
    const stream = open({ signal: stop.signal });
    await stream.next();
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(1);
    const end = stream.rest();
    stop.abort();
    expect(await end).toEqual([]);
    expect(held()).toBe(0);
    expect(getEventListeners(stop.signal, 'abort')).toHaveLength(0);
  });

  test('is never taken up when the signal has aborted before', async () => {
    const { open, held } = streams();
    expect(await open({ signal: AbortSignal.abort() }).rest()).toEqual([]);
    expect(held()).toBe(0);
  });

  test('is let go when the store fails, and the reader is told', async () => {
    const { harness, open, held, advance } = streams();
    const stream = open();
    await stream.next();
    await harness.store.close();
    const failed = stream.next();
    advance(15_000);
    await expect(failed).rejects.toThrow('not open');
    expect(held()).toBe(0);
    const late = open();
    await expect(late.next()).rejects.toThrow('not open');
    expect(held()).toBe(0);
  });

  test('is let go when all streams are ended, whether anybody reads them or not', async () => {
    const { all, open, held } = streams();
    const [read, unread] = [open(), open()];
    await read.next();
    await all.end();
    expect(held()).toBe(0);
    expect(await read.rest()).toEqual([]);
    expect(await unread.rest()).toHaveLength(1);
  });

  test('is taken up again by the next stream', async () => {
    const { harness, open, advance } = streams();
    const first = open();
    await first.next();
    await first.reader.cancel();
    const second = open();
    await second.next();
    await harness.born({ id: 'later' });
    advance(100);
    expect((await second.next())?.data.job.id).toBe('later');
  });
});

test('the fate of webhooks is told live, without an id, to whoever wants to know', async () => {
  const { harness, teller, open } = streams();
  const all = open();
  const failed = open({ filter: { events: 'job:webhook:failed' } });
  const job = await harness.born({ id: 'a' });
  const event = { at: 5, job, url: 'https://example.org/', error: null };
  teller.bus.emit('job:webhook:delivered', { ...event, type: 'job:webhook:delivered' });
  teller.bus.emit('job:webhook:failed', { ...event, type: 'job:webhook:failed', error: 'HTTP 500' });
  const told = await all.until(({ event }) => event === 'job:webhook:failed');
  expect(told.filter(({ id }) => id === undefined).map(({ data }) => data)).toEqual([
    { ...event, type: 'job:webhook:delivered' },
    { ...event, type: 'job:webhook:failed', error: 'HTTP 500' },
  ]);
  const [, only] = [await failed.next(), await failed.next()];
  expect(only?.event).toBe('job:webhook:failed');
});

describe('shutdown', () => {
  test('ends every stream after the last transition was told', async () => {
    const database = tempDatabase();
    const running = gate();
    const slow = pipeline('slow').phase('run', async () => {
      running.open();
      await new Promise((resolve) => setTimeout(resolve, 50));
    });
    const queue = new JobQueue({ database, pipelines: [slow] });
    const streams = [1, 2, 3].map(() => readStream(queue.createEventStream()));
    await queue.enqueue('slow', null);
    await running.opened;
    const told = streams.map(async (stream) => toldOf(await stream.rest()));
    await queue.shutdown();
    for (const each of told) expect(await each).toEqual(logOf(database));
    expect(logOf(database).at(-1)).toBe('3 job:completed');
  });

  test('ends a stream that nobody reads', async () => {
    const queue = new JobQueue({ database: tempDatabase(), pipelines: [one], claim: false });
    const stalled = queue.createEventStream();
    await queue.enqueueMany(Array.from({ length: 500 }, () => ({ name: 'one', data: 'x'.repeat(1_000) }) as const));
    await queue.shutdown();
    const messages = await readStream(stalled).rest();
    expect(messages.length).toBeLessThan(500);
  });

  test('refuses new streams', async () => {
    const queue = new JobQueue({ database: ':memory:', pipelines: [one] });
    const closed = queue.shutdown();
    expect(() => queue.createEventStream()).toThrow(ShuttingDownError);
    await closed;
  });
});

test('a stream does not keep its process alive', async () => {
  const { spawnSync } = await import('node:child_process');
  const script = `
    import { JobQueue } from 'millrace';
    const queue = new JobQueue({ database: ':memory:', pipelines: [], claim: false });
    await queue.createEventStream().getReader().read();
    console.log('read');
  `;
  const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', script], { timeout: 20_000 });
  expect(String(stdout)).toBe('read\n');
});

test('what is committed right after a stream was made is told, though nobody reads yet', async () => {
  const queue = openQueue({ pipelines: [one], claim: false });
  const stream = queue.createEventStream();
  const id = await queue.enqueue('one', null);
  const messages = await readStream(stream).until(({ event }) => event === 'job:enqueued');
  expect(messages.at(-1)?.data.job.id).toBe(id);
});
