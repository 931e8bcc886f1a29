import { execFileSync } from 'node:child_process';
import { InvalidInputError } from 'millrace';
import { verifyWebhook, WebhookDispatcher, type WebhookPostOptions } from 'millrace/webhooks';
import { expect, onTestFinished, test } from 'vitest';
import { gate } from '../../../support/open-queue.ts';
import { receiver } from '../../../support/receiver.ts';

function dispatcher(options: WebhookPostOptions = {}): WebhookDispatcher {
  const backoff = { type: 'fixed', baseMs: 1 } as const;
  const made = new WebhookDispatcher({ allowPrivateNetwork: true, backoff, ...options });
  onTestFinished(() => made.close());
  return made;
}

test('a payload is posted and signed without a queue', async () => {
  const { url, received } = await receiver();
  const report = await dispatcher({ secret: 's3cret' }).deliver(url, { hello: 'world' });
  expect(report).toMatchObject({ delivered: true, status: 204, attempts: 1 });
  const [{ headers, body, id }] = received as [(typeof received)[0]];
  expect(id).toBe(report.id);
  expect(verifyWebhook({ headers, body, secret: 's3cret' })).toEqual({ hello: 'world' });
});

test('it is tried again under the same id until it arrives', async () => {
  const { url, received } = await receiver((_, n) => (n < 3 ? 503 : 200));
  const report = await dispatcher().deliver(url, {}, { id: 'mine' });
  expect(report).toMatchObject({ delivered: true, attempts: 3, id: 'mine' });
  expect(received.map(({ id }) => id)).toEqual(['mine', 'mine', 'mine']);
});

test('it is given up after the last attempt, or at once where another would not help', async () => {
  const busy = await receiver(() => 500);
  expect(await dispatcher({ maxAttempts: 2 }).deliver(busy.url, {})).toMatchObject({
    delivered: false,
    attempts: 2,
    error: 'The receiver answered 500.',
  });
  const gone = await receiver(() => 410);
  expect(await dispatcher().deliver(gone.url, {})).toMatchObject({ delivered: false, attempts: 1, status: 410 });
});

test('an abort ends it between attempts', async () => {
  const controller = new AbortController();
  const { url } = await receiver(() => {
    setImmediate(() => controller.abort());
    return 500;
  });
  const patient = dispatcher({ backoff: { type: 'fixed', baseMs: 3_600_000 } });
  await expect(patient.deliver(url, {}, { signal: controller.signal })).rejects.toThrow('abort');
});

test('an idle connection that the receiver closes is replaced without an attempt being lost', async () => {
  const endpoint = await receiver(() => (response) => {
    response.writeHead(200).end();
    response.on('close', () => response.socket?.destroy());
  });
  const one = dispatcher({ maxAttempts: 1 });
  for (let i = 0; i < 5; i++) expect(await one.deliver(endpoint.url, { i })).toMatchObject({ delivered: true });
});

test('an attempt that goes through several stale connections has one limit in all', async () => {
  // The first four connections are kept for later; whoever comes back on one is held for a while and then cut off.
  const hold = gate();
  const endpoint = await receiver((_, n) => {
    if (n <= 4)
      return n < 4
        ? (response) => void hold.opened.then(() => response.end())
        : (response) => {
            hold.open();
            response.end();
          };
    return (_response, request) => void setTimeout(() => request.socket.destroy(), 400);
  });
  const one = dispatcher({ maxAttempts: 1, timeoutMs: 1_000 });
  await Promise.all([1, 2, 3, 4].map((n) => one.deliver(endpoint.url, { n })));
  expect(endpoint.connections()).toBe(4);
  expect(await one.deliver(endpoint.url, {})).toMatchObject({ error: 'There was no answer within 1000 ms.' });
});

test('an answer that wants to speak another protocol is a failed attempt', async () => {
  const endpoint = await receiver((_, n) =>
    n === 1
      ? 200
      : (_response, request) =>
          void request.socket.end('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  );
  const one = dispatcher({ maxAttempts: 1 });
  await one.deliver(endpoint.url, {});
  expect(await one.deliver(endpoint.url, {})).toMatchObject({
    delivered: false,
    status: null,
    error: 'The connection ended without an answer.',
  });
});

test('connections are used again', async () => {
  const endpoint = await receiver(() => (response) => void response.end('thank you'));
  const one = dispatcher();
  for (let i = 0; i < 5; i++) await one.deliver(endpoint.url, { i });
  expect(endpoint.connections()).toBe(1);
});

test.each([
  ['url', 'ftp://example.com', {}, {}],
  ['url', 'http://127.0.0.1/', {}, { allowPrivateNetwork: false }],
  ['payload', 'https://example.com', undefined, {}],
])('a wrong %s is refused', async (field, url, payload, options) => {
  const refused = dispatcher(options).deliver(url, payload);
  await expect(refused).rejects.toThrow(InvalidInputError);
  await expect(refused).rejects.toThrow(field);
});

test('an id that cannot be a header is refused', async () => {
  await expect(dispatcher().deliver('https://example.com', {}, { id: 'a\nb' })).rejects.toThrow('id');
});

test('receivers load no database driver', () => {
  const script = `
    import { createRequire } from 'node:module';
    import { verifyWebhook } from 'millrace/webhooks';
    const loaded = Object.keys(createRequire(import.meta.url).cache).concat(process.moduleLoadList);
    console.log(typeof verifyWebhook, loaded.some((name) => /better.sqlite3|piscina|xstate/.test(name)));
  `;
  const cwd = new URL('../../../..', import.meta.url).pathname;
  const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], { cwd, encoding: 'utf8' });
  expect(output.trim()).toBe('function false');
});
