import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'millrace';
import { StreamRefusedError, type WatchEvent, type WatchOptions, watchJobs } from 'millrace/client';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { serveEvents } from '../support/event-server.ts';
import { gate, openQueue } from '../support/open-queue.ts';
import { finish, logOf, toldOf } from '../support/sse.ts';
import { tempDatabase } from '../support/temp-database.ts';

const two = pipeline('two')
  .input<unknown>()
  .phase('first', () => 1)
  .phase('second', () => 2);

const FAST: WatchOptions = { minRetryMs: 1, maxRetryMs: 5 };

/** A server that answers the n-th request with the n-th of these, and the last again. */
async function answering(...answers: ((response: ServerResponse, request: IncomingMessage) => void)[]) {
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    requests.push(request);
    (answers[requests.length - 1] ?? answers.at(-1))?.(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, requests };
}

const sends =
  (text: string, then: 'end' | 'destroy' | 'stay' = 'end') =>
  (response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => {
      if (then === 'end') response.end();
      if (then === 'destroy') response.destroy();
    });
  };

const says =
  (status: number, text = '') =>
  (response: ServerResponse) =>
    response.writeHead(status).end(text);

const enqueued = (id: number) => `event: job:enqueued\nid: ${id}\ndata: {"type":"job:enqueued","at":${id}}\n\n`;

/** Reads until the watch ends by itself or has shown so many events. */
async function take(watch: AsyncIterable<WatchEvent>, count = Number.POSITIVE_INFINITY): Promise<WatchEvent[]> {
  const events: WatchEvent[] = [];
  if (count === 0) return events;
  for await (const event of watch) if (events.push(event) === count) break;
  return events;
}

const asMessages = (events: readonly WatchEvent[]) => events.map((data) => ({ event: data.type, data }));

describe('watchJobs', () => {
  test('asks again when a server takes the call and says nothing', async () => {
    const { url, requests } = await answering(() => {}, sends(enqueued(1)));
    const events = await take(watchJobs(url, { ...FAST, silenceMs: 50 }), 1);
    expect(events).toMatchObject([{ lastEventId: '1' }]);
    expect(requests).toHaveLength(2);
  });

  test.each([404, 403])('a refusal without end (%i) is read as far as it is shown, and hung up on', async (status) => {
    const closed = gate();
    const { url } = await answering((response) => {
      response.on('close', () => closed.open());
      response.writeHead(status);
      const pour = () => {
        while (response.writable && response.write('no '.repeat(1_000)));
      };
      response.on('drain', pour);
      pour();
    });
    await expect(take(watchJobs(url, FAST))).rejects.toThrow(`(HTTP ${status}): no no`);
    await closed.opened;
  });

  test('a signal that aborts while the server has not answered yet ends the watch', async () => {
    const stop = new AbortController();
    const { url, requests } = await answering(() => stop.abort());
    expect(await take(watchJobs(url, { ...FAST, signal: stop.signal }))).toEqual([]);
    expect(requests).toHaveLength(1);
  });

  test('shows the events of a queue over HTTP, typed, with where to resume', async () => {
    const database = tempDatabase();
    const queue = openQueue({ database, pipelines: [two] });
    const { url, server } = await serveEvents(queue, { snapshot: true });
    onTestFinished(() => void server.close());
    const watch = watchJobs(url);
    const events: WatchEvent[] = [];
    for await (const event of watch) {
      events.push(event);
      if (event.type === 'snapshot') await queue.enqueue('two', 5);
      if (event.type === 'job:completed') {
        expect(event.job?.phaseResults).toEqual({ first: 1, second: 2 });
        break;
      }
    }
    expect(events[0]).toMatchObject({ type: 'snapshot', jobs: [], done: true, lastEventId: '0' });
    expect(events.at(-1)).toMatchObject({ type: 'job:completed', lastEventId: '4' });
    expect(watch.lastEventId).toBe('4');
    expect(toldOf(asMessages(events))).toEqual(logOf(database));
  });

  test('reads a stream of this process without HTTP, to its end', async () => {
    const queue = openQueue({ pipelines: [two] });
    await finish(queue, [await queue.enqueue('two', null)]);
    const watch = watchJobs(queue.createEventStream({ lastEventId: 0 }));
    expect(await take(watch, 5)).toHaveLength(5);
    const last = watchJobs(queue.createEventStream({ lastEventId: 3 }));
    const all = take(last);
    await queue.shutdown();
    expect((await all).map(({ type }) => type)).toEqual(['job:phase:completed', 'job:completed']);
  });

  test('reads a Response, to its end', async () => {
    const response = () => new Response(enqueued(7), { headers: { 'content-type': 'text/event-stream' } });
    expect(await take(watchJobs(response()))).toEqual([{ type: 'job:enqueued', at: 7, lastEventId: '7' }]);
    await expect(take(watchJobs(new Response('no', { status: 500 })))).rejects.toThrow(StreamRefusedError);
    expect(await take(watchJobs(new Response(null, { status: 204 })))).toEqual([]);
  });

  test('connects again when the connection ends or breaks, and says where it was', async () => {
    const { url, requests } = await answering(
      sends(enqueued(1) + enqueued(2)),
      sends(`${enqueued(3)}event: job:enqueued\nid: 4\ndata: {"cut off`, 'destroy'),
      sends(enqueued(4)),
      says(204),
    );
    const events = await take(watchJobs(url, FAST));
    expect(events.map(({ lastEventId }) => lastEventId)).toEqual(['1', '2', '3', '4']);
    expect(requests.map(({ headers }) => headers['last-event-id'])).toEqual([undefined, '2', '3', '4']);
    expect(requests[0]?.headers.accept).toBe('text/event-stream');
  });

  test('begins where it is told to, and sends the headers it is given with every request', async () => {
    const { url, requests } = await answering(sends(''), says(204));
    await take(watchJobs(url, { ...FAST, lastEventId: '41.1', headers: { authorization: 'Bearer x' } }));
    expect(requests.map(({ headers }) => [headers['last-event-id'], headers.authorization])).toEqual([
      ['41.1', 'Bearer x'],
      ['41.1', 'Bearer x'],
    ]);
  });

  test('moves on with pings, and does not show them', async () => {
    const { url, requests } = await answering(sends('event: ping\nid: 9\ndata: {"timestamp":1}\n\n'), says(204));
    const watch = watchJobs(url, FAST);
    expect(await take(watch)).toEqual([]);
    expect(watch.lastEventId).toBe('9');
    expect(requests[1]?.headers['last-event-id']).toBe('9');
  });

  test('passes over events it does not know', async () => {
    const { url } = await answering(
      sends(`event: job:teleported\nid: 1\ndata: x\n\ndata: y\n\n${enqueued(2)}`),
      says(204),
    );
    expect((await take(watchJobs(url, FAST))).map(({ lastEventId }) => lastEventId)).toEqual(['2']);
  });

  test('asks again after 5xx and when nobody answers', async () => {
    const { url, requests } = await answering(says(503), says(500), sends(enqueued(1)), says(502), says(204));
    expect(await take(watchJobs(url, FAST))).toHaveLength(1);
    expect(requests).toHaveLength(5);
    let tries = 0;
    const watch = watchJobs(url, {
      ...FAST,
      fetch: async (...args) => {
        if (++tries < 4) throw new TypeError('fetch failed');
        return fetch(...args);
      },
    });
    expect(await take(watch)).toEqual([]);
    expect(tries).toBe(4);
  });

  test.each([400, 401, 403, 404, 410, 429])(
    'gives up on %i, with the status and what the server said',
    async (status) => {
      const { url, requests } = await answering(says(status, 'not for you'));
      const refused = take(watchJobs(url, FAST));
      await expect(refused).rejects.toThrow(StreamRefusedError);
      await expect(refused).rejects.toMatchObject({
        code: 'stream_refused',
        status,
        message: expect.stringContaining('not for you'),
      });
      expect(requests).toHaveLength(1);
    },
  );

  test('gives up on what is no event stream', async () => {
    const page = await answering((response) => response.writeHead(200, { 'content-type': 'text/html' }).end('<p>'));
    await expect(take(watchJobs(page.url, FAST))).rejects.toThrow('text/html');
    const broken = await answering(sends('event: job:failed\ndata: {"type":\n\n', 'stay'));
    await expect(take(watchJobs(broken.url, FAST))).rejects.toThrow('"job:failed" event is not JSON');
  });

  test('waits as long as the server says before it connects again', async () => {
    const { url } = await answering(sends(`retry: 37\n\n${enqueued(1)}`), says(204));
    const timers = vi.spyOn(globalThis, 'setTimeout');
    onTestFinished(() => timers.mockRestore());
    await take(watchJobs(url, { minRetryMs: 1 }));
    // Up to a quarter longer, so that clients do not all come back at once.
    expect(timers.mock.calls.some(([, ms = 0]) => ms >= 37 && ms <= 37 * 1.25)).toBe(true);
  });

  test('takes a connection that has fallen silent for dead', async () => {
    const { url, requests } = await answering(sends(enqueued(1), 'stay'), sends(enqueued(2), 'stay'), says(204));
    expect(await take(watchJobs(url, { ...FAST, silenceMs: 30 }))).toHaveLength(2);
    expect(requests).toHaveLength(3);
  });

  test('ends when its signal aborts: while it reads, while it waits and before it begins', async () => {
    const { url } = await answering(sends(enqueued(1), 'stay'));
    const reading = new AbortController();
    const seen: WatchEvent[] = [];
    for await (const event of watchJobs(url, { ...FAST, signal: reading.signal })) {
      seen.push(event);
      setImmediate(() => reading.abort());
    }
    expect(seen).toHaveLength(1);

    const waiting = new AbortController();
    const asked = gate();
    const down = await answering((response) => {
      response.on('finish', () => asked.open());
      says(503)(response);
    });
    const watch = take(watchJobs(down.url, { minRetryMs: 60_000, signal: waiting.signal }));
    await asked.opened;
    setTimeout(() => waiting.abort(), 20);
    expect(await watch).toEqual([]);

    expect(await take(watchJobs(url, { signal: AbortSignal.abort() }))).toEqual([]);
    const queue = openQueue({ pipelines: [two] });
    expect(await take(watchJobs(queue.createEventStream(), { signal: AbortSignal.abort() }))).toEqual([]);
  });

  test('hangs up when its loop is left', async () => {
    const closed = gate();
    const { url } = await answering((response) => {
      response.on('close', () => closed.open());
      sends(enqueued(1), 'stay')(response);
    });
    await take(watchJobs(url, FAST), 1);
    await closed.opened;
  });

  test('reads no faster than it is listened to', async () => {
    const queue = openQueue({ pipelines: [two], claim: false });
    const stream = queue.createEventStream();
    await queue.enqueueMany(Array.from({ length: 2_000 }, () => ({ name: 'two', data: 'x'.repeat(1_000) }) as const));
    let bytes = 0;
    const counted = stream.pipeThrough(
      new TransformStream<Uint8Array, Uint8Array>({
        transform(chunk, controller) {
          bytes += chunk.length;
          controller.enqueue(chunk);
        },
      }),
    );
    await take(watchJobs(counted), 1);
    expect(bytes).toBeLessThan(256 * 1024);
  });
});
