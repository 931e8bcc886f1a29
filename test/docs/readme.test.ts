/** The examples in the README are run exactly as they are printed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** A fenced block of a language, by default the first. */
function block(language: string, index = 0): string {
  const all = [...README.matchAll(new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'gm'))];
  const found = all[index]?.[1];
  if (found === undefined) throw new Error(`README.md has no \`\`\`${language} block number ${index}.`);
  return found;
}

/** Runs one of the files, in a folder inside the repository, so that `import … from 'millrace'` is this package as it was built. */
async function run(files: Readonly<Record<string, string>>, main: string) {
  const folder = mkdtempSync(fileURLToPath(new URL('./example-', import.meta.url)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  return promisify(execFile)(process.execPath, [main], { cwd: folder, timeout: 20_000 });
}

test('the example of the README runs as printed, and prints what the README says', async () => {
  const { stdout, stderr } = await run({ 'example.mjs': block('js') }, 'example.mjs');
  expect(stderr).toBe('');
  expect(stdout).toBe(block('text'));
  expect(stdout).toBe('50% split\n100% count\n{ words: 3 }\n');
});

test('so does the example of a CPU-heavy phase, each block in the file it names', async () => {
  const [handler, main] = [block('js', 1), block('js', 2)];
  expect([handler, main].map((text) => /^\/\/ ([\w.]+)/.exec(text)?.[1])).toEqual(['primes.mjs', 'main.mjs']);
  const { stdout, stderr } = await run({ 'primes.mjs': handler, 'main.mjs': main }, 'main.mjs');
  expect(stderr).toBe('');
  expect(stdout.trim()).toBe(/\/\/ (\d+ primes.*)$/m.exec(main)?.[1]);
});

test('the example is short', () => {
  expect(block('js').trim().split('\n').length).toBeLessThanOrEqual(12);
});
