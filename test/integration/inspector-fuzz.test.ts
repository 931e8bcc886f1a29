/** Requests no browser would make, over bare sockets: each is answered or hung up on, and the host lives on. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { pipeline } from 'millrace';
import { serveInspector } from 'millrace/inspector';
import { describe, expect, it, onTestFinished } from 'vitest';
import { openQueue } from '../support/open-queue.ts';

const work = pipeline('work').phase('one', () => 1);

async function open() {
  const queue = openQueue({ pipelines: [work] });
  const server = await serveInspector(queue, { port: 0 });
  onTestFinished(() => server.close());
  return { queue, ...server };
}

/** Sends bytes as they are; answers with all that came back. `half`: says at once that nothing will follow. */
async function say(port: number, bytes: string, half = false): Promise<string> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let answer = '';
  socket.on('data', (chunk) => {
    answer += chunk.toString('latin1');
  });
  socket.on('error', () => {});
  if (half) socket.end(bytes, 'latin1');
  else socket.write(bytes, 'latin1');
  await once(socket, 'end').catch(() => {});
  socket.destroy();
  return answer;
}

const statusOf = (answer: string) => Number(/^HTTP\/1\.1 (\d+)/.exec(answer)?.[1] ?? 0);
const request = (target: string, host = '127.0.0.1', method = 'GET', more = '') =>
  `${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${more}Connection: close\r\n\r\n`;

describe('a target', () => {
  it.each([
    ['//', 404],
    ['///', 404],
    ['//[', 404],
    ['//evil.example/api/jobs', 404],
    ['//:99999/', 404],
    ['/%', 404],
    ['/%ff%fe', 404],
    ['/api/jobs/%', 400],
    ['/api/jobs/%00', 404],
    ['/api/jobs/%ff', 400],
    ['/api/jobs/..%2f..%2fpackage.json', 404],
    ['/api/jobs/__proto__/chart', 404],
    ['/api/jobs?status=%ff&pipeline=__proto__', 400],
    ['/..%5c..%5cpackage.json', 404],
    ['/\\evil.example', 404],
    ['/?#', 200],
    ['http://127.0.0.1/api/jobs', 400],
    ['http://[', 400],
    ['https://evil.example/', 400],
    ['*', 400],
    ['api/jobs', 400],
    ['javascript:alert(1)', 400],
  ])('%s is answered with %i', async (target, status) => {
    const { port } = await open();
    expect(statusOf(await say(port, request(target)))).toBe(status);
    expect(statusOf(await say(port, request('/')))).toBe(200);
  });
});

describe('a Host', () => {
  it.each([
    ['', 400],
    ['[', 400],
    ['[::1', 400],
    ['::1', 400],
    ['[127.0.0.1]', 400],
    ['[::1]x', 400],
    ['127.0.0.1:port', 400],
    ['127.0.0.1:1234567', 400],
    ['evil.example@127.0.0.1', 400],
    ['127.0.0.1/evil', 400],
    ['127.0.0.1 evil', 400],
    ['[::1]:80', 200],
    ['LOCALHOST', 200],
    ['127.0.0.1.evil.example', 421],
  ])('"%s" is answered with %i', async (host, status) => {
    const { port } = await open();
    for (const path of ['/', '/events', '//']) {
      const answer = await say(port, request(path, host, 'HEAD'));
      const allowed = path === '/' ? 200 : 404;
      expect([path, statusOf(answer)]).toEqual([path, status === 200 ? allowed : status]);
    }
  });

  it('that is not there at all is answered with 400', async () => {
    const { port } = await open();
    expect(statusOf(await say(port, 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n'))).toBe(400);
    expect(statusOf(await say(port, 'GET / HTTP/1.0\r\n\r\n'))).toBe(400);
  });
});

describe('a method', () => {
  it.each(['OPTIONS', 'TRACE', 'PROPFIND', 'DELETE', 'POST'])('%s is answered with 405', async (method) => {
    const { port } = await open();
    for (const target of ['/', '//', '*', '/events']) {
      expect(statusOf(await say(port, request(target, '127.0.0.1', method)))).toBe(405);
    }
  });

  it('CONNECT is hung up on', async () => {
    const { port } = await open();
    expect(await say(port, request('127.0.0.1:1', '127.0.0.1', 'CONNECT'))).toBe('');
    expect(statusOf(await say(port, request('/')))).toBe(200);
  });
});

it('headers without end are refused, and so is what is no HTTP at all', async () => {
  const { port } = await open();
  expect(statusOf(await say(port, request('/', '127.0.0.1', 'GET', `x: ${'y'.repeat(40_000)}\r\n`)))).toBe(431);
  for (const noise of ['\0\0\0\0\r\n\r\n', '\x16\x03\x01\x02\x00\x01', 'GET\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n']) {
    expect(statusOf(await say(port, noise))).toBe(400);
  }
  expect(statusOf(await say(port, request('/')))).toBe(200);
});

it('a wish to speak another protocol is answered as if it were not there', async () => {
  const { port } = await open();
  const upgrade = 'Upgrade: websocket\r\nSec-WebSocket-Key: x\r\nSec-WebSocket-Version: 13\r\n';
  const bytes = `GET / HTTP/1.1\r\nHost: localhost\r\n${upgrade}Connection: Upgrade, close\r\n\r\n`;
  expect(statusOf(await say(port, bytes, true))).toBe(200);
  expect(statusOf(await say(port, request('/', 'localhost', 'GET', 'Expect: the-moon\r\n')))).toBe(417);
});

it('sockets that close half, or in the middle, leave no stream behind', async () => {
  const { queue, port } = await open();
  expect(statusOf(await say(port, request('/api/jobs'), true))).toBe(200);
  await say(port, 'GET / HTTP/1.1\r\nHost: loc', true);
  for (let i = 0; i < 40; i++) {
    const socket = connect(port, '127.0.0.1');
    socket.write(request('/events'));
    await once(socket, 'data');
    socket.destroy();
  }
  // More pages than may listen at a time have come and gone: there is room for one more.
  await expect
    .poll(async () => {
      const socket = connect(port, '127.0.0.1');
      socket.write(request('/events'));
      const [head] = (await once(socket, 'data')) as [Buffer];
      socket.destroy();
      return statusOf(head.toString());
    })
    .toBe(200);
  expect((await queue.stats()).running).toBe(0);
});
