import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EventSource } from 'eventsource';
import { JOB_EVENT_NAMES, pipeline } from 'millrace';
import { watchJobs } from 'millrace/client';
import { expect, onTestFinished, test } from 'vitest';
import { freePort } from '../support/event-server.ts';
import { expectLawful } from '../support/laws.ts';
import { openQueue } from '../support/open-queue.ts';
import { logOf, messageParser, newestOf, toldOf } from '../support/sse.ts';
import { tempFolder } from '../support/temp-database.ts';

const SERVER = new URL('./event-server.ts', import.meta.url).pathname;
const KILLS = 3;
const LONG = { timeout: 60_000, interval: 20 };

/** What a client has been told so far. */
type Told = Parameters<typeof toldOf>[0][number][];
type Client = (url: string, told: Told) => () => void;

/** The `eventsource` package: what browsers do. It connects again by itself, with the id it has. */
const eventSource: Client = (url, told) => {
  const source = new EventSource(`${url}?lastEventId=0`);
  for (const name of JOB_EVENT_NAMES) {
    source.addEventListener(name, ({ data }) => told.push({ event: name, data: JSON.parse(data) }));
  }
  return () => source.close();
};

/** curl knows nothing of event streams: what it printed is parsed, and the next curl is told the last id. */
const curl: Client = (url, told) => {
  let stopped = false;
  let lastEventId = '0';
  let child: ChildProcess | undefined;
  const connect = () => {
    const feed = messageParser((message) => {
      lastEventId = message.id ?? lastEventId;
      told.push(message);
    });
    child = spawn('curl', ['-sN', '-H', `Last-Event-ID: ${lastEventId}`, url], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    child.stdout?.setEncoding('utf8').on('data', feed);
    child.on('close', () => stopped || setTimeout(connect, 50));
  };
  connect();
  return () => {
    stopped = true;
    child?.kill('SIGKILL');
  };
};

/** Ours. */
const watcher: Client = (url, told) => {
  const stop = new AbortController();
  const run = async () => {
    const watch = watchJobs(url, { lastEventId: '0', signal: stop.signal, minRetryMs: 50 });
    for await (const event of watch) told.push({ event: event.type, data: event });
  };
  void run();
  return () => stop.abort();
};

function serve(database: string, port: number): Promise<ChildProcess> {
  const child = spawn(process.execPath, ['--import', 'tsx', SERVER, database, String(port)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code) => code && reject(new Error(`The server ended with ${code}.`)));
    child.stdout?.once('data', () => resolve(child));
  });
}

function dead(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    child.on('exit', () => resolve());
    child.kill('SIGKILL');
  });
}

const clients: readonly (readonly [name: string, client: Client])[] = [
  ['eventsource', eventSource],
  ['curl', curl],
  ['watchJobs', watcher],
];

test('law 5: clients resume without gap or duplicate across servers that are killed, under load', async () => {
  const folder = tempFolder();
  const database = join(folder, 'jobs.db');
  const port = await freePort();
  const work = pipeline('work')
    .phase('first', () => 1)
    .phase('second', () => 2)
    .options({ retry: { maxAttempts: 20, disposition: 'fatal' } });
  const producer = openQueue({ database, pipelines: [work], claim: false });
  let server = await serve(database, port);
  const told = clients.map(([, client]) => {
    const messages: Told = [];
    onTestFinished(client(`http://127.0.0.1:${port}/events`, messages));
    return messages;
  });

  const stopLoad = repeat(() =>
    producer.enqueueMany(Array.from({ length: 20 }, () => ({ name: 'work', data: null }) as const)),
  );
  for (let kill = 1; kill <= KILLS; kill++) {
    // Everybody has seen something since the last time, and the log goes on meanwhile.
    const marks = told.map((messages) => messages.length);
    await expect.poll(() => told.every((messages, i) => messages.length > (marks[i] ?? 0) + 200), LONG).toBe(true);
    await dead(server);
    server = await serve(database, port);
  }
  await stopLoad();
  await expect.poll(async () => Object.keys((await producer.stats()).jobs), LONG).toEqual(['completed']);

  const newest = newestOf(database);
  const reached = (messages: Told) =>
    Number(messages.findLast(({ data }) => data.transition)?.data.transition.position);
  await expect.poll(() => told.map(reached), LONG).toEqual(told.map(() => newest));
  expectLawful(database);
  const log = logOf(database);
  expect(log.length).toBeGreaterThan(1_000);
  for (const [index, [name]] of clients.entries()) {
    expect({ name, told: toldOf(told[index] ?? []) }).toEqual({ name, told: log });
  }
}, 120_000);

/** Does it again and again; answers with a function that stops it. */
function repeat(work: () => Promise<unknown>): () => Promise<void> {
  let stopped = false;
  const run = async () => {
    while (!stopped) {
      await work();
      await sleep(20);
    }
  };
  const ended = run();
  return () => {
    stopped = true;
    return ended;
  };
}
