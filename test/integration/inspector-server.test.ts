/** The inspector's server: who is let in, what it tells, and that it lets nothing out. */
import { readdirSync, readFileSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { type JobRecord, pipeline } from 'millrace';
import { type InspectedQueue, type InspectorOptions, serveInspector } from 'millrace/inspector';
import { describe, expect, it, onTestFinished } from 'vitest';
import { closeQueue, nextEvent, openQueue } from '../support/open-queue.ts';

const work = pipeline('work')
  .input<unknown>()
  .phase('one', () => 1)
  .phase('two', (job) => {
    if (job.data === 'bad') throw new Error('<img src=x onerror=alert(1)>');
    return 2;
  });

async function open(options: InspectorOptions = {}) {
  const queue = openQueue({ pipelines: [work] });
  const server = await serveInspector(queue, { port: 0, ...options });
  onTestFinished(() => server.close());
  return { queue, ...server };
}

/** A request with any header there is; `fetch` would not lie about its host. */
function ask(port: number, path: string, headers: Record<string, string> = {}, method = 'GET') {
  return new Promise<{ status: number; headers: IncomingMessage['headers']; body: string }>((resolve, reject) => {
    const request = get({ port, path, method, host: '127.0.0.1', agent: false, headers }, async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
    });
    request.on('error', reject);
  });
}

describe('the door', () => {
  it.each([
    ['a name that DNS may have pointed here', 421, { host: 'evil.example' }],
    ['a name that looks like ours', 421, { host: 'localhost.evil.example:80' }],
    ['a foreign origin', 403, { origin: 'https://evil.example' }],
    ['no origin at all', 403, { origin: 'null' }],
    ['another port on this machine', 403, { origin: 'http://127.0.0.1:1' }],
    ['a page of another site', 403, { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'cors' }],
    ['a page of another port', 403, { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }],
    ['a body', 413, { 'content-length': '3' }],
  ] as const)('turns away %s', async (_, status, headers) => {
    const { port } = await open();
    for (const path of ['/', '/api/jobs', '/events']) expect((await ask(port, path, headers)).status).toBe(status);
  });

  it('turns away what would change something, and what is too long', async () => {
    const { port } = await open();
    for (const method of ['POST', 'PUT', 'DELETE', 'PATCH', 'OPTIONS']) {
      expect((await ask(port, '/api/jobs', {}, method)).status).toBe(405);
    }
    expect((await ask(port, `/api/jobs/${'x'.repeat(3_000)}`)).status).toBe(414);
  });

  it.each(['localhost', '127.0.0.1', '[::1]'])('lets %s in', async (name) => {
    const { port } = await open();
    expect((await ask(port, '/', { host: `${name}:${port}` })).status).toBe(200);
    expect((await ask(port, '/', { host: `${name}:${port}`, origin: `http://${name}:${port}` })).status).toBe(200);
  });

  it('is on this machine only unless told otherwise', async () => {
    const { url, port } = await open();
    expect(url).toBe(`http://127.0.0.1:${port}/`);
    const named = await open({ host: 'localhost' });
    expect(
      (await ask(named.port, '/', { host: `localhost:${named.port}` }).catch(() => ({ status: 0 }))).status,
    ).not.toBe(421);
  });
});

describe('what it sends', () => {
  it('may load nothing from elsewhere, be framed by nobody and is never cached', async () => {
    const { port } = await open();
    for (const path of ['/', '/app.js', '/api/jobs', '/nothing']) {
      const { headers } = await ask(port, path);
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers['content-security-policy']).not.toMatch(/unsafe|https?:|\*/);
      expect(headers['content-security-policy']).toContain("frame-ancestors 'none'");
      expect(headers['x-content-type-options']).toBe('nosniff');
      expect(headers['access-control-allow-origin']).toBeUndefined();
    }
  });

  it('names no other place, and writes no markup from strings', () => {
    const folder = new URL('../../src/runtime/edges/inspector/page/', import.meta.url);
    for (const name of readdirSync(folder)) {
      const text = readFileSync(new URL(name, folder), 'utf8').replaceAll('http://www.w3.org/2000/svg', '');
      expect(text, name).not.toMatch(/https?:\/\/|innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(/);
    }
  });

  it('is nothing but its own files', async () => {
    const { port } = await open();
    const strays = [
      '/../package.json',
      '/%2e%2e/package.json',
      '/page/app.js',
      '/server.ts',
      '/stately',
      '/stately.html',
    ];
    for (const path of strays) expect((await ask(port, path)).status, path).toBe(404);
    expect((await ask(port, '/', {}, 'HEAD')).body).toBe('');
  });
});

describe('what it tells of jobs', () => {
  it('is a list without data, and counts', async () => {
    const { queue, port } = await open();
    const id = await queue.enqueue('work', { secret: 'x'.repeat(10_000) });
    await queue.result(id);
    await queue.enqueue('work', 'later', { delayMs: 60_000, id: 'later' });
    const { body } = await ask(port, '/api/jobs');
    const { jobs, stats } = JSON.parse(body) as { jobs: JobRecord[]; stats: { jobs: object } };
    expect(jobs.map((job) => [job.id, job.status])).toEqual([
      ['later', 'pending'],
      [id, 'completed'],
    ]);
    expect(body).not.toContain('secret');
    expect(stats.jobs).toEqual({ pending: 1, completed: 1 });
    const filtered = await ask(port, '/api/jobs?status=completed&pipeline=work');
    expect((JSON.parse(filtered.body) as { jobs: JobRecord[] }).jobs.map((job) => job.id)).toEqual([id]);
    expect((await ask(port, '/api/jobs?status=nonsense')).status).toBe(400);
  });

  it('is read a few jobs at a time, so that large ones do not hold up the host', async () => {
    const queue = openQueue({ pipelines: [work], claim: false });
    await queue.enqueueMany(Array.from({ length: 130 }, (_, n) => ({ name: 'work', data: n }) as const));
    const limits: (number | undefined)[] = [];
    const watched: InspectedQueue = {
      getJob: (id) => queue.getJob(id),
      transitions: (id) => queue.transitions(id),
      stats: () => queue.stats(),
      createEventStream: (options) => queue.createEventStream(options),
      listJobs: (options) => {
        limits.push(options?.limit);
        return queue.listJobs(options);
      },
    };
    const { port, close } = await serveInspector(watched, { port: 0 });
    onTestFinished(close);
    const { jobs } = JSON.parse((await ask(port, '/api/jobs')).body) as { jobs: JobRecord[] };
    const newest = (await queue.listJobs({ limit: 100 })).jobs;
    expect(jobs.map(({ id }) => id)).toEqual(newest.map(({ id }) => id));
    expect(Math.max(...limits.map((limit) => limit ?? Number.POSITIVE_INFINITY))).toBeLessThanOrEqual(10);
  });

  it('is the log of one that was deleted', async () => {
    const queue = openQueue({ pipelines: [work], retention: { staleAfterMs: 0, deleteAfterMs: 0, intervalMs: 5 } });
    const { port, close } = await serveInspector(queue, { port: 0 });
    onTestFinished(close);
    const deleted = nextEvent(queue, 'job:deleted');
    await queue.enqueue('work', null, { id: 'gone' });
    await deleted;
    const { job, history } = JSON.parse((await ask(port, '/api/jobs/gone')).body) as { job: null; history: unknown[] };
    expect([job, history.length]).toEqual([null, 6]);
    expect((await ask(port, '/api/jobs/gone/chart')).body).toContain('data-state="active.two"');
  });

  it('is the story of one, finished or not', async () => {
    const { queue, port } = await open();
    const id = '../<script>alert(1)</script>?#%';
    await queue.enqueue('work', 'bad', { id });
    await expect(queue.result(id)).rejects.toThrow();
    const { status, body } = await ask(port, `/api/jobs/${encodeURIComponent(id)}`);
    expect(status).toBe(200);
    const story = JSON.parse(body) as { job: JobRecord; history: { to: string; past: { status: string } }[] };
    expect(story.job.id).toBe(id);
    expect(story.history.map(({ to }) => to)).toEqual(['pending', 'active.one', 'active.two', 'failed']);
    expect(story.history.map(({ past }) => past.status)).toEqual(['pending', 'active', 'active', 'failed']);
    const chart = await ask(port, `/api/jobs/${encodeURIComponent(id)}/chart`);
    expect(chart.headers['content-type']).toMatch(/^image\/svg\+xml/);
    expect(chart.body).toContain('data-state="active.two"');
    expect((await ask(port, '/api/jobs/nobody')).status).toBe(404);
    expect((await ask(port, '/api/jobs/%E0%A4%A')).status).toBe(400);
  });

  it('ends with the queue: 503, not a crash', async () => {
    const { queue, port } = await open();
    await closeQueue(queue);
    for (const path of ['/api/jobs', '/api/jobs/x', '/events']) expect((await ask(port, path)).status).toBe(503);
    expect((await ask(port, '/')).status).toBe(200);
  });
});

describe('the events', () => {
  it('are the queue’s own stream, resumed where the page was', async () => {
    const { queue, port } = await open();
    const id = await queue.enqueue('work', null);
    await queue.result(id);
    const [born] = await queue.transitions(id);
    const response = await fetch(`http://127.0.0.1:${port}/events`, {
      headers: { 'last-event-id': String(born?.position) },
    });
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    let text = '';
    const decoder = new TextDecoder();
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      if (text.includes('event: job:completed')) break;
    }
    expect(text.match(/^event: job.*$/gm)).toEqual([
      'event: job:started',
      'event: job:phase:completed',
      'event: job:phase:completed',
      'event: job:completed',
    ]);
  });

  it('end when the server closes, and the port is free again', async () => {
    const first = await open();
    const response = await fetch(`${first.url}events`);
    await first.close();
    await expect(response.text().catch(() => 'ended')).resolves.toBeDefined();
    const second = await serveInspector(first.queue, { port: first.port });
    await second.close();
  });
});

describe('the way to the hosted inspector', () => {
  it('is only there for those who asked, and leads only there', async () => {
    const { port } = await open({ stately: true });
    const { status, headers } = await ask(port, '/stately?job=x');
    expect(status).toBe(200);
    expect(headers['content-security-policy']).toContain('frame-src https://stately.ai;');
    expect((await ask(port, '/')).headers['content-security-policy']).toContain("frame-src 'none'");
  });
});

describe('options', () => {
  it.each([
    ['options.port', { port: -1 }],
    ['options.port', { port: 70_000 }],
    ['options.port', { port: null }],
    ['options.port', { port: '4600' }],
    ['options.host', { host: 5 }],
    ['options.host', { host: null }],
    ['options.host', { host: '' }],
    ['options.host', { host: ' ' }],
    ['options.stately', { stately: null }],
    ['options.stately', { stately: 'stately.ai' }],
    ['options.stately', { stately: 'javascript:alert(1)' }],
    ['options.prot', { prot: 1 }],
  ])('%s is checked', async (field, options) => {
    await expect(open(options as InspectorOptions)).rejects.toMatchObject({ code: 'invalid_input', field });
  });

  it.each([null, undefined, {}, 'jobs.db'])('%o is no queue', async (queue) => {
    await expect(serveInspector(queue as never, { port: 0 })).rejects.toMatchObject({ field: 'queue' });
  });

  it.each([null, 4600, []])('%o are no options', async (options) => {
    const queue = openQueue({ pipelines: [work] });
    await expect(serveInspector(queue, options as never)).rejects.toMatchObject({ field: 'options' });
  });

  it('a port that is taken is refused', async () => {
    const { port } = await open();
    await expect(open({ port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
  });
});
