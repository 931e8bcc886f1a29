/** The demo, run as anybody would, but with a small picture. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readPng } from '../support/png.ts';
import { tempFolder } from '../support/temp-database.ts';

const DEMO = fileURLToPath(new URL('../../examples/demo.js', import.meta.url));

/** Runs the demo in a folder of its own; `onText` is shown everything it has printed so far. */
function demo(options: readonly string[], onText: (text: string, stop: () => void) => void = () => {}) {
  const folder = tempFolder();
  const out = join(folder, 'picture.png');
  const child = spawn(process.execPath, [DEMO, ...options, '--out', out], { env: { ...process.env, TMPDIR: folder } });
  let [text, errors] = ['', ''];
  child.stdout.on('data', (data) => {
    text += data;
    onText(text, () => child.kill('SIGINT'));
  });
  child.stderr.on('data', (data) => {
    errors += data;
  });
  return new Promise<{ code: number | null; text: string; errors: string; out: string; left: string[] }>((resolve) => {
    child.on('close', (code) => {
      const left = readdirSync(folder).filter((name) => name.startsWith('millrace-demo-'));
      resolve({ code, text, errors, out, left });
    });
  });
}

/** The line of the last table that begins with this job, in its columns. */
function rowOf(text: string, id: string): string[] {
  const [, table = ''] = text.split('outcome\n');
  const line = table.split('\n').find((one) => one.trim().startsWith(id));
  return line?.trim().split(/ {2,}/) ?? [];
}

const BANDS = Array.from({ length: 8 }, (_, i) => `band-${i + 1}`);

function expectPicture(out: string, width: number, height: number): void {
  const png = readPng(readFileSync(out));
  expect([png.width, png.height]).toEqual([width, height]);
  // A picture of something: no row is a single colour, and no two are the same.
  for (const row of png.rows) expect(new Set(row.subarray(4)).size).toBeGreaterThan(2);
  expect(new Set(png.rows.map((row) => row.toString('latin1'))).size).toBe(height);
}

test('eight jobs make a picture; a cancel, a runaway and two failures do not stop them', async () => {
  const { code, text, errors, out, left } = await demo(['--width', '160']);
  expect([code, errors]).toEqual([0, '']);
  for (const id of BANDS) {
    const [, status, attempts, phases] = rowOf(text, id);
    expect([id, status, attempts, phases]).toEqual([id, 'completed', id === 'band-5' ? '3 of 5' : '1 of 5', '3 of 3']);
  }
  expect(rowOf(text, 'band-5').at(-1)).toMatch(/^\d+ bytes; failed attempts: 2$/);
  expect(rowOf(text, 'poster').slice(1, 4)).toEqual(['cancelled', '1 of 3', '1 of 3']);
  expect(rowOf(text, 'poster').at(-1)).toContain('stopped in its loop');
  expect(rowOf(text, 'runaway').slice(1, 4)).toEqual(['failed', '1 of 1', '0 of 1']);
  expect(rowOf(text, 'runaway').at(-1)).toBe('unresponsive, code timeout');
  expect(text).toContain('attempt 2  render  warn: The lamp went out');
  // No terminal, no escape codes.
  expect(text).not.toContain('\x1b');
  expect(text).toContain(`The picture: ${out}`);
  expectPicture(out, 160, 100);
  expect(left).toEqual([]);
});

test('--crash: the second process repeats no finished phase, and counts them from the log', async () => {
  const { code, text, errors, out, left } = await demo(['--crash', '--width', '160']);
  expect([code, errors]).toEqual([0, '']);
  expect(text).toContain('Killed with SIGKILL');
  const count = (name: string) => Number(new RegExp(`${name} +(\\d+)`).exec(text)?.[1]);
  const before = count('finished phases before the kill');
  expect(before).toBeGreaterThanOrEqual(12);
  expect(before).toBeLessThan(24);
  expect(count('begun again after it')).toBe(0);
  expect(count('phases it interrupted')).toBeGreaterThan(0);
  expect(before + count('finished phases after the kill')).toBe(24);
  for (const id of BANDS) expect(rowOf(text, id).slice(1, 2)).toEqual(['completed']);
  expectPicture(out, 160, 100);
  expect(left).toEqual([]);
});

test.each([
  ['a run', ['--width', '2000']],
  ['the process that is to be killed', ['--width', '2000', '--crash']],
])('Ctrl-C ends %s in good order', async (_, options) => {
  const { code, text, errors, out, left } = await demo(options, (said, stop) => {
    if (said.includes('band-1') && said.includes('plan  done')) stop();
  });
  expect([code, errors]).toEqual([130, '']);
  expect(text).toContain('their jobs given back');
  expect(existsSync(out)).toBe(false);
  expect(left).toEqual([]);
});

test('--help says what there is; what there is not is refused with the same words', async () => {
  const help = await demo(['--help']);
  expect([help.code, help.errors]).toEqual([0, '']);
  expect(help.text).toContain('--crash');
  for (const wrong of [
    ['--widht', '5'],
    ['--width', 'wide'],
    ['--width', '9'],
  ]) {
    const refused = await demo(wrong);
    expect([refused.code, refused.text]).toEqual([1, '']);
    expect(refused.errors).toContain(wrong[0]);
    expect(refused.errors).toContain(help.text.trim());
  }
});
