import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';
import { finish, logOf, readStream, toldOf, upTo } from '../support/sse.ts';
import { tempDatabase } from '../support/temp-database.ts';

setFlagsFromString('--expose-gc');
const gc = runInNewContext('gc') as () => void;

const busy = pipeline('busy')
  .input<unknown>()
  .phase('run', (_job, ctx) => {
    ctx.progress(50, 'half');
    return 1;
  });

function many(count: number, bytes: number) {
  return Array.from({ length: count }, () => ({ name: 'busy', data: 'x'.repeat(bytes) }) as const);
}

/** What is read without the event loop turning was queued already: a pull waits for a turn of its own. */
async function queuedBytes(stream: ReadableStream<Uint8Array>): Promise<number> {
  const reader = stream.getReader();
  let bytes = 0;
  let turned = false;
  setImmediate(() => {
    turned = true;
  });
  while (!turned) {
    const { value } = await reader.read();
    if (!turned) bytes += value?.length ?? 0;
  }
  reader.releaseLock();
  return bytes;
}

async function used(): Promise<number> {
  for (let i = 0; i < 3; i++) {
    gc();
    await new Promise(setImmediate);
  }
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

test('a reader that stalls has at most some 100 KiB queued, however much is committed', async () => {
  const database = tempDatabase();
  const queue = openQueue({ database, pipelines: [busy] });
  const live = queue.createEventStream();
  await finish(queue, await queue.enqueueMany(many(2_000, 1_500)));
  const replaying = queue.createEventStream({ lastEventId: 0 });
  const snapshot = queue.createEventStream({ snapshot: true });
  await queue.enqueueMany(many(10, 10));
  // Long enough for a stream that does not stop at its limit.
  for (let i = 0; i < 200; i++) await new Promise(setImmediate);
  for (const stream of [live, replaying, snapshot]) {
    const bytes = await queuedBytes(stream);
    expect(bytes).toBeGreaterThan(32 * 1024);
    expect(bytes).toBeLessThan(128 * 1024);
    await stream.cancel();
  }
});

test('jobs of any size after each other do not make a snapshot of small ones overflow', async () => {
  const queue = openQueue({ pipelines: [busy], claim: false });
  await queue.enqueueMany(many(100, 500_000));
  await queue.enqueueMany(many(100, 10));
  const stream = queue.createEventStream({ snapshot: true });
  for (let i = 0; i < 200; i++) await new Promise(setImmediate);
  // Small ones first; the first large one fills the queue by itself.
  expect(await queuedBytes(stream)).toBeLessThan(600_000);
  const parts = await readStream(stream).until(({ data }) => data.done);
  for (const { data } of parts.slice(0, -1)) expect(JSON.stringify(data).length).toBeLessThan(600_000);
});

test('stalled readers cost less than 2 MiB of memory, and get everything when they come back', async () => {
  const database = tempDatabase();
  const queue = openQueue({ database, pipelines: [busy] });
  const load = async () => {
    for (let i = 0; i < 5; i++) await finish(queue, await queue.enqueueMany(many(400, 5_000)));
  };
  await load();
  const before = await used();
  const stalled = queue.createEventStream();
  await load();
  const grown = (await used()) - before;
  // 6,000 events of more than 5 kB each have gone by, and as many pieces of progress.
  expect(grown).toBeLessThan(2 * 1024 * 1024);
  const messages = await readStream(stalled).until(upTo(12_000));
  expect(toldOf(messages)).toEqual(logOf(database, 6_000));
});

test('a reader that is slow gets everything once, though it is overtaken again and again', async () => {
  const database = tempDatabase();
  const queue = openQueue({ database, pipelines: [busy] });
  const stream = readStream(queue.createEventStream());
  const load = queue.enqueueMany(many(1_000, 100)).then((ids) => finish(queue, ids));
  const messages = await stream.until(upTo(500));
  await load;
  messages.push(...(await stream.until(upTo(3_000))));
  expect(toldOf(messages)).toEqual(logOf(database));
});
