/** The examples in the README are run exactly as they are printed; only port numbers are replaced, for they may be taken here. */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, onTestFinished, test, vi } from 'vitest';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The fenced blocks of a language. */
function blocks(language: string): readonly string[] {
  return [...README.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))].map(
    ([, text = '']) => text,
  );
}

/** Programs by the file name in their first line; the first one's is told in the text before it. */
const programs = new Map(
  blocks('js').map((text, index) => {
    const name = /^\/\/ ([\w.-]+\.mjs)\b/.exec(text)?.[1];
    return [index === 0 ? 'example.mjs' : (name ?? `block ${index}, which names no file`), text];
  }),
);
const unused = new Set(programs.keys());

/** Writes programs into a folder inside the repository, so that `import … from 'millrace'` is this package as it was built. */
async function unpack(...names: readonly string[]): Promise<string> {
  const folder = mkdtempSync(fileURLToPath(new URL('./example-', import.meta.url)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const ports = new Map<string, number>();
  for (const name of names) {
    let text = programs.get(name) ?? `throw new Error('README.md has no ${name}.')`;
    for (const [port] of text.matchAll(/\b(?:80\d\d|4600)\b/g)) {
      if (!ports.has(port)) ports.set(port, await freePort());
      text = text.replaceAll(port, String(ports.get(port)));
    }
    writeFileSync(join(folder, name), text);
    unused.delete(name);
  }
  return folder;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

/** Runs a program to its end. */
function run(folder: string, name: string) {
  return promisify(execFile)(process.execPath, [name], { cwd: folder, timeout: 20_000 });
}

/** Starts a program that does not end by itself; `lines` grows with what it prints. */
function start(folder: string, name: string) {
  const child = spawn(process.execPath, [name], { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  createInterface(child.stdout).on('line', (line) => lines.push(line));
  const stop = async () => {
    if (child.exitCode === null && child.signalCode === null && child.kill('SIGKILL')) await once(child, 'exit');
  };
  onTestFinished(stop);
  return { lines, stop };
}

/** Waits for so many lines. */
async function atLeast(count: number, lines: readonly string[]): Promise<void> {
  await vi.waitFor(() => expect(lines.length).toBeGreaterThanOrEqual(count), { timeout: 15_000 });
}

afterAll(() => {
  expect([...unused], 'every js block of README.md is run').toEqual([]);
});

test('the example runs as printed, and prints what the README says', async () => {
  const { stdout, stderr } = await run(await unpack('example.mjs'), 'example.mjs');
  expect(stderr).toBe('');
  expect(stdout).toBe(blocks('text')[0]);
  expect(stdout).toBe('50% split\n100% count\n{ words: 3 }\n');
});

test('the example is short', () => {
  expect(programs.get('example.mjs')?.trim().split('\n').length).toBeLessThanOrEqual(12);
});

test('a CPU-heavy phase, each block in the file it names', async () => {
  const { stdout, stderr } = await run(await unpack('primes.mjs', 'main.mjs'), 'main.mjs');
  expect(stderr).toBe('');
  expect(stdout.trim()).toBe(/\/\/ (\d+ primes.*)$/m.exec(programs.get('main.mjs') ?? '')?.[1]);
});

test('watching from elsewhere: another process sees every event once, across a restart of the server', async () => {
  const folder = await unpack('server.mjs', 'watch.mjs');
  const server = start(folder, 'server.mjs');
  const { lines } = start(folder, 'watch.mjs');
  await atLeast(4, lines);
  await server.stop();
  const before = lines.length;
  start(folder, 'server.mjs');
  await atLeast(before + 4, lines);
  // The watch may have come after the first job, or in the midst of it.
  const first = lines.findIndex((line) => line.includes(' job:enqueued '));
  const base = Number.parseInt(lines[first] ?? '', 10) - 1;
  const told = lines.slice(first).map((line) => line.replace(/^\d+/, (position) => String(Number(position) - base)));
  expect(`${told.slice(0, 4).join('\n')}\n`).toBe(blocks('text')[1]);
  const whole = told.map((line) => line.split(' ')[0] ?? '').filter((id) => !id.includes('.'));
  expect(whole).toEqual(whole.map((_, index) => String(index + 1)));
  expect(new Set(lines).size).toBe(lines.length);
});

test('webhooks: the receiver is told, and believes it', async () => {
  const { stdout, stderr } = await run(await unpack('hooks.mjs'), 'hooks.mjs');
  expect(stderr).toBe('');
  expect(stdout.trim()).toBe(/\/\/ (job:completed: .*)$/m.exec(programs.get('hooks.mjs') ?? '')?.[1]);
});

test('the inspector: the page is there, and so are the jobs', async () => {
  const { lines } = start(await unpack('inspect.mjs'), 'inspect.mjs');
  await atLeast(1, lines);
  const url = lines[0]?.replace('Open ', '') ?? '';
  expect(url.replace(/\d+\/$/, '4600/')).toBe(/Open (http:.*)$/m.exec(programs.get('inspect.mjs') ?? '')?.[1]);
  expect(await (await fetch(url)).text()).toContain('Millrace');
  const listed = async () => ((await (await fetch(`${url}api/jobs`)).json()) as { jobs: unknown[] }).jobs;
  await vi.waitFor(async () => expect((await listed())[0]).toMatchObject({ pipeline: 'thumbnails' }), 10_000);
});

test('a picture of a pipeline, as a file and as text', async () => {
  const folder = await unpack('picture.mjs');
  const { stdout, stderr } = await run(folder, 'picture.mjs');
  expect(stderr).toBe('');
  expect(stdout).toMatch(/^stateDiagram-v2\n/);
  expect(readFileSync(join(folder, 'letters.svg'), 'utf8')).toMatch(/^<svg[\s\S]+>post</);
});
