/** What the documentation points at exists: files, headings, tests by name, options and events. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JOB_EVENT_NAMES, JOB_STATUSES } from 'millrace';
import { describe, expect, test } from 'vitest';

const ROOT = resolve(dirname(fileURLToPath(import.meta.url)), '../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

const markdown = [
  ...readdirSync(ROOT).filter((name) => name.endsWith('.md')),
  ...['docs', 'src'].flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.md'))
      .map((name) => join(folder, name)),
  ),
];

/** The anchors of a file's headings, as GitHub makes them. */
function anchors(path: string): Set<string> {
  const headings = read(path).matchAll(/^#+ (.+)$/gm);
  return new Set(
    [...headings].map(([, title = '']) =>
      title
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, '')
        .replace(/\s/g, '-'),
    ),
  );
}

/** Links within the repository. */
function linksOf(path: string): string[] {
  return [...read(path).matchAll(/\]\((?!https?:)([^)\s]+)\)/g)].map(([, target = '']) => target);
}

test.each(markdown.filter((path) => linksOf(path).length > 0))('%s links to files and headings that exist', (path) => {
  for (const link of linksOf(path)) {
    const [file = '', anchor] = link.split('#');
    const target = file === '' ? path : join(dirname(path), file);
    expect(existsSync(join(ROOT, target)), link).toBe(true);
    if (anchor !== undefined) expect(anchors(target), link).toContain(anchor);
  }
});

describe('docs/durability.md', () => {
  const lines = read('docs/durability.md').split('\n');
  const citations = lines.flatMap((line) => {
    const file = /^(?:- )?`(test\/[^`]+)`: /.exec(line)?.[1];
    if (file === undefined) return [];
    // A name may follow on the next line.
    const next = lines[lines.indexOf(line) + 1] ?? '';
    const text = line.endsWith(',') ? `${line}\n${next}` : line;
    return [...text.matchAll(/"([^"]+)"/g)].map(([, name = '']) => [file, name] as const);
  });

  test('cites tests for every law', () => {
    const laws = read('docs/durability.md').split(/^### /m).slice(1);
    expect(laws).toHaveLength(9);
    for (const law of laws) expect(law).toMatch(/^- `test\//m);
  });

  test.each(citations)('%s has "%s"', (file, name) => {
    expect(read(file).replaceAll("\\'", "'")).toContain(name);
  });

  test('speaks of every column of millrace_jobs and of every table', () => {
    const schema = read('src/runtime/store/sqlite/migrations/0001-jobs.ts');
    const jobs = /CREATE TABLE millrace_jobs \(([\s\S]*?)\n\) STRICT/.exec(schema)?.[1] ?? '';
    const columns = [...jobs.matchAll(/^ {2}([a-z_]+) +(?:TEXT|INTEGER)/gm)].map(([, name]) => name);
    const tables = [...schema.matchAll(/CREATE TABLE (\w+)/g)].map(([, name]) => name);
    expect(columns.length).toBeGreaterThan(30);
    for (const name of [...columns, ...tables]) expect(read('docs/durability.md')).toContain(`\`${name}\``);
  });

  test('speaks of every code of the store', () => {
    const codes = [...read('src/runtime/errors.ts').matchAll(/'(store_\w+)'/g)].map(([, code]) => code);
    for (const code of codes) expect(read('docs/durability.md')).toContain(`\`${code}\``);
  });
});

test('docs/lifecycle.md speaks of every status', () => {
  for (const status of JOB_STATUSES) expect(read('docs/lifecycle.md')).toContain(`\`${status}\``);
});

test('the events in the documentation are events of the queue', () => {
  for (const path of markdown) {
    for (const [name] of read(path).matchAll(/job:[a-z]+(?::[a-z]+)?/g)) expect(JOB_EVENT_NAMES).toContain(name);
  }
});
