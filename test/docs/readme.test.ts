/** The example in the README is run exactly as it is printed. */
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

const README = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');

/** The first fenced block of a language. */
function block(language: string): string {
  const found = new RegExp(`^\`\`\`${language}\n([\\s\\S]*?)^\`\`\`$`, 'm').exec(README)?.[1];
  if (found === undefined) throw new Error(`README.md has no \`\`\`${language} block.`);
  return found;
}

test('the example of the README runs as printed, and prints what the README says', async () => {
  // Inside the repository, so that `import … from 'millrace'` is this package as it was built.
  const folder = mkdtempSync(fileURLToPath(new URL('./example-', import.meta.url)));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'example.mjs'), block('js'));
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['example.mjs'], {
    cwd: folder,
    timeout: 20_000,
  });
  expect(stderr).toBe('');
  expect(stdout).toBe(block('text'));
  expect(stdout).toBe('50% split\n100% count\n{ words: 3 }\n');
});

test('the example is short', () => {
  expect(block('js').trim().split('\n').length).toBeLessThanOrEqual(12);
});
