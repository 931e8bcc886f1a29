import { pipeline, type QueueEvents } from 'millrace';
import { describe, expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { gate, openQueue } from '../support/open-queue.ts';
import { finish, jobsOf, logOf, readStream, toldOf, upTo } from '../support/sse.ts';
import { tempDatabase } from '../support/temp-database.ts';

const two = pipeline('two')
  .input<unknown>()
  .phase('first', () => ({ n: 1 }))
  .phase('second', () => ({ n: 2 }));

const failing = pipeline('failing').phase('only', () => {
  throw new Error('no\nroute');
});

describe('an event stream', () => {
  test('tells every transition under its names, in the order of the log, with its position as id', async () => {
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two] });
    const stream = readStream(queue.createEventStream());
    await queue.result(await queue.enqueue('two', { a: 'line\nbreak' }));
    const messages = await stream.until(upTo(4));
    expect(messages.map(({ event, id }) => [event, id])).toEqual([
      ['ping', '0'],
      ['job:enqueued', '1'],
      ['job:started', '2'],
      ['job:phase:completed', '3'],
      ['job:phase:completed', '3.1'],
      ['job:completed', '4'],
    ]);
    expect(toldOf(messages)).toEqual(logOf(database));
  });

  test('begins with a retry line, and every event is event, id and one line of data', async () => {
    const queue = openQueue({ pipelines: [two], claim: false });
    const stream = readStream(queue.createEventStream());
    await queue.enqueue('two', { a: 'line\nbreak\r\n' });
    await stream.until(upTo(1));
    expect(stream.text()).toMatch(
      /^retry: 1000\n\nevent: ping\nid: 0\ndata: \{"timestamp":\d+\}\n\nevent: job:enqueued\nid: 1\ndata: \{"type":"job:enqueued",.*\}\n\n$/,
    );
  });

  test('tells live what listeners are told: the record exactly as committed', async () => {
    const queue = openQueue({ pipelines: [two, failing] });
    const heard: unknown[] = [];
    const names = [
      'job:enqueued',
      'job:started',
      'job:phase:completed',
      'job:completed',
      'job:failed',
    ] as const satisfies readonly (keyof QueueEvents)[];
    for (const name of names) queue.on(name, (event) => heard.push(event));
    const stream = readStream(queue.createEventStream());
    const ids = await queue.enqueueMany([
      ...Array.from({ length: 20 }, (_, i) => ({ name: 'two', data: i }) as const),
      { name: 'failing', data: null, options: { maxAttempts: 1 } },
    ]);
    await Promise.allSettled(ids.map((id) => queue.result(id)));
    const messages = await stream.until(upTo(20 * 4 + 3));
    expect(messages.filter(({ event }) => event !== 'ping').map(({ data }) => data)).toEqual(heard);
    expect(heard.length).toBe(20 * 5 + 3);
  });

  test('tells a replayed event as the log has it, with the record as it is now', async () => {
    const queue = openQueue({ pipelines: [two] });
    const id = await queue.enqueue('two', 5);
    await queue.result(id);
    const messages = await readStream(queue.createEventStream({ lastEventId: 0 })).until(upTo(4));
    const job = await queue.getJob(id);
    const log = await queue.transitions(id);
    expect(messages[1]?.data).toEqual({ type: 'job:enqueued', at: log[0]?.at, job, transition: log[0] });
    expect(messages[4]?.data).toEqual({ type: 'job:phase:completed', at: log[3]?.at, job, transition: log[3] });
  });

  test('tells a deletion by the id, live with the last record and replayed with none', async () => {
    const { clock, advance } = fakeClock();
    const retention = { staleAfterMs: 10, deleteAfterMs: 10, intervalMs: 50 };
    const queue = openQueue({ pipelines: [two], clock, retention });
    const stream = readStream(queue.createEventStream({ filter: { events: ['job:completed', 'job:deleted'] } }));
    const id = await queue.enqueue('two', null);
    await stream.until(({ event }) => event === 'job:completed');
    // Marked stale in one round, deleted in a later one.
    const rounds = setInterval(() => advance(50), 5);
    const live = (await stream.until(({ event }) => event === 'job:deleted')).at(-1);
    clearInterval(rounds);
    expect(live?.data).toMatchObject({ deletedJobId: id, job: { id, status: 'deleted' } });
    const again = readStream(queue.createEventStream({ lastEventId: '0' }));
    const replayed = await again.until(({ event }) => event === 'job:deleted');
    expect(replayed.at(-1)?.data).toMatchObject({ deletedJobId: id, job: null, transition: { to: 'deleted' } });
    expect(replayed.at(1)?.data).toMatchObject({ type: 'job:enqueued', job: null, transition: { jobId: id } });
  });

  test('tells progress without an id, between the transitions it happened between', async () => {
    const told = gate();
    const slow = pipeline('slow').phase('run', async (_job, ctx) => {
      ctx.progress(30, 'a third');
      await told.opened;
    });
    const queue = openQueue({ pipelines: [slow] });
    const stream = readStream(queue.createEventStream());
    const id = await queue.enqueue('slow', null);
    const progress = (await stream.until(({ event }) => event === 'job:progress')).at(-1);
    expect(progress).toMatchObject({
      id: undefined,
      data: { type: 'job:progress', phase: 'run', phaseProgress: 30, message: 'a third', job: { id, progress: 30 } },
    });
    told.open();
    await stream.until(({ event }) => event === 'job:completed');
    const replayed = await readStream(queue.createEventStream({ lastEventId: 0 })).until(upTo(3));
    expect(replayed.map(({ event }) => event)).not.toContain('job:progress');
  });

  test('gives signs of life that say how far the log has been read', async () => {
    const { clock, advance } = fakeClock(5_000);
    const queue = openQueue({ pipelines: [two], claim: false, clock });
    const filter = { events: 'job:failed' } as const;
    const stream = readStream(queue.createEventStream({ filter, pingMs: 700 }));
    expect(await stream.next()).toEqual({ event: 'ping', id: '0', data: { timestamp: 5_000 } });
    await queue.enqueue('two', null);
    advance(700);
    const ping = await stream.next();
    expect(ping).toMatchObject({ event: 'ping', data: { timestamp: 5_700 } });
    // The entry that was filtered out counts, at the latest with the ping after it.
    advance(700);
    expect(await stream.next()).toEqual({ event: 'ping', id: '1', data: { timestamp: 6_400 } });
  });
});

describe('a filter', () => {
  const cases: readonly [name: string, filter: object, expected: readonly string[]][] = [
    ['by event', { events: ['job:completed'] }, ['4 job:completed', '8 job:completed']],
    [
      'by the first of two names',
      { events: 'job:phase:completed', jobIds: 'a' },
      ['3', '4'].map((p) => `${p} job:phase:completed`),
    ],
    ['by job', { jobIds: ['a'], events: ['job:started', 'job:completed'] }, ['2 job:started', '4 job:completed']],
    ['by pipeline', { pipelines: 'other', events: 'job:enqueued' }, ['5 job:enqueued']],
    [
      'by the status come to',
      { statuses: ['active', 'pending'], jobIds: 'b' },
      ['5 job:enqueued', '6 job:started', '7 job:phase:completed'],
    ],
    ['that nothing matches', { jobIds: [] }, []],
  ];
  test.each(cases)('%s lets the same events through live and replayed', async (_, filter, expected) => {
    const other = pipeline('other')
      .phase('first', () => 1)
      .phase('second', () => 2);
    const queue = openQueue({ pipelines: [two, other] });
    const live = readStream(queue.createEventStream({ filter, pingMs: 5 }));
    await queue.result(await queue.enqueue('two', null, { id: 'a' }));
    await queue.result(await queue.enqueue('other', null, { id: 'b' }));
    const replay = readStream(queue.createEventStream({ filter, pingMs: 5, lastEventId: 0 }));
    expect(toldOf(await live.until(upTo(8)))).toEqual(expected);
    expect(toldOf(await replay.until(upTo(8)))).toEqual(expected);
  });

  test('holds for the snapshot too', async () => {
    const queue = openQueue({ pipelines: [two, failing] });
    const ids = await queue.enqueueMany(
      Array.from({ length: 40 }, () => ({ name: 'two', data: 'x'.repeat(2_000) }) as const),
    );
    await finish(queue, ids);
    const late = await queue.enqueue('two', null, { delayMs: 60_000 });
    const shown = async (filter: object) => {
      const parts = await readStream(queue.createEventStream({ snapshot: true, filter })).until(
        ({ data }) => data.done,
      );
      return jobsOf(parts)
        .map(({ id }) => id)
        .sort();
    };
    expect(await shown({ statuses: 'pending' })).toEqual([late]);
    expect(await shown({ pipelines: 'failing' })).toEqual([]);
    expect(await shown({ pipelines: ['two'], statuses: ['completed'] })).toEqual([...ids].sort());
    expect(await shown({ jobIds: [...ids.slice(3), late, 'nobody'], statuses: 'completed' })).toEqual(
      [...ids.slice(3)].sort(),
    );
    expect(await shown({ events: 'job:failed' })).toHaveLength(41);
  });
});
