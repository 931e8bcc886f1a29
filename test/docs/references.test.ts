/** What the documentation points at exists: files, headings, tests by name, options and events. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { JOB_EVENT_NAMES, JOB_STATUSES, JobQueue } from 'millrace';
import { pipelineDiagram } from 'millrace/inspector';
import { describe, expect, test } from 'vitest';
import { STOP_REASONS } from '../../src/actors/vocabulary.ts';

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

  const folder = 'src/runtime/store/sqlite/migrations';
  const schema = readdirSync(join(ROOT, folder))
    .map((name) => read(join(folder, name)))
    .join('\n');

  const tables = [...schema.matchAll(/CREATE TABLE (\w+) \(([\s\S]*?)\n\) STRICT/g)].map(
    ([, table = '', body = '']) => [table, body] as const,
  );

  test.each(tables)('speaks of %s and of its columns', (table, body) => {
    const columns = [...body.matchAll(/^ {2}([a-z_]+) +(?:TEXT|INTEGER|BLOB)/gm)].map(([, name = '']) => name);
    expect(columns.length).toBeGreaterThan(2);
    for (const name of [table, ...columns]) expect(read('docs/durability.md')).toContain(`\`${name}\``);
  });

  test('knows all tables there are', () => {
    expect(tables).toHaveLength(schema.split('CREATE TABLE').length - 1);
    expect(tables.length).toBeGreaterThan(7);
  });

  test('speaks of every code of the store', () => {
    const codes = [...read('src/runtime/errors.ts').matchAll(/'(store_\w+)'/g)].map(([, code]) => code);
    for (const code of codes) expect(read('docs/durability.md')).toContain(`\`${code}\``);
  });
});

const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => read(join('src', name)));

/** The literals of a union type, a line each, or what an interface declares, as the source has them up to the next empty line. */
function namesOf(type: string): readonly string[] {
  const declared = sources.flatMap((text) =>
    text.split(new RegExp(`^export (?:type|interface) ${type}\\b`, 'm')).slice(1),
  );
  expect(declared, type).toHaveLength(1);
  const names = (declared[0]?.split('\n\n')[0] ?? '').matchAll(/^ {2}(?:\| '(\w+)';?$|readonly (\w+)\??:|(\w+)[(<])/gm);
  return [...names].map(([, literal, field, method]) => literal ?? field ?? method ?? '');
}

test('docs/lifecycle.md speaks of every status and of every reason to stop', () => {
  for (const name of [...JOB_STATUSES, ...STOP_REASONS]) expect(read('docs/lifecycle.md')).toContain(`\`${name}\``);
});

test.each([
  ['FailureOutcome', 'interrupted'],
  ['PhaseUsage', 'bytesOut'],
  ['WorkerOptions', 'shared'],
  ['PoolOptions', 'env'],
  ['ThreadOptions', 'badHandler'],
])('docs/threads.md speaks of all that %s has', (type, last) => {
  const names = namesOf(type);
  expect(names.at(-1)).toBe(last);
  for (const name of names) expect(read('docs/threads.md')).toMatch(new RegExp(`\`${name}[\`:]`));
});

describe('README.md', () => {
  const readme = read('README.md');
  /** The words in its code spans; programs are left out. */
  const words = new Set(
    [...readme.replace(/^```[\s\S]*?^```$/gm, '').matchAll(/`([^`\n]+)`/g)].flatMap(
      ([, code = '']) => code.match(/[\w:]+/g) ?? [],
    ),
  );

  test('has every verb of a queue', () => {
    const verbs = Object.getOwnPropertyNames(JobQueue.prototype).filter((name) => name !== 'constructor');
    expect(verbs).toContain('createEventStream');
    for (const name of verbs) expect(words).toContain(name);
  });

  test('has every event', () => {
    for (const name of [...JOB_EVENT_NAMES, 'error']) expect(words).toContain(name);
  });

  test.each([
    ['JobQueueConfig', 'onPoint'],
    ['EnqueueOptions', 'webhookUrl'],
    ['EventStreamOptions', 'signal'],
    ['ListOptions', 'cursor'],
    ['ShutdownOptions', 'graceMs'],
    ['WorkerOptions', 'shared'],
    ['ThreadOptions', 'badHandler'],
    ['PipelineOptions', 'timeoutMs'],
    ['RetryOptions', 'disposition'],
    ['PhaseContext', 'phaseResults'],
  ])('has all that %s has', (type, last) => {
    const names = namesOf(type);
    expect(names.at(-1)).toBe(last);
    for (const name of names) expect(words).toContain(name);
  });

  test('has every way in', () => {
    const { exports } = JSON.parse(read('package.json')) as { exports: Record<string, unknown> };
    const ways = Object.keys(exports).filter((way) => way !== './package.json');
    for (const way of ways) expect(readme).toContain(`| \`${join('millrace', way)}\` `);
  });

  test('links every document', () => {
    const documents = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
    expect(linksOf('README.md')).toEqual(expect.arrayContaining(documents.map((name) => `docs/${name}`)));
    expect(linksOf('README.md')).toContain('bench/README.md');
  });
});

test.each([
  ['docs/events.md', 'EventStreamOptions', 'signal'],
  ['docs/events.md', 'EventFilter', 'statuses'],
  ['docs/events.md', 'WatchOptions', 'silenceMs'],
  ['docs/webhooks.md', 'WebhookPostOptions', 'maxResponseBytes'],
  ['docs/webhooks.md', 'WebhookOptions', 'send'],
  ['docs/inspector.md', 'InspectorOptions', 'stately'],
  ['docs/inspector.md', 'InspectOptions', 'sample'],
  ['docs/lifecycle.md', 'RetentionOptions', 'batchSize'],
  ['docs/lifecycle.md', 'PhaseState', 'usage'],
])('%s speaks of all that %s has', (document, type, last) => {
  const names = namesOf(type);
  expect(names.at(-1)).toBe(last);
  for (const name of names) expect(read(document)).toMatch(new RegExp(`\\b${name}\\b`));
});

test.each(['README.md', 'docs/lifecycle.md', 'docs/inspector.md'])(
  "%s draws no statechart but the machine's own",
  (path) => {
    // What is between the marks is compared with the machine by test/unit/inspector/docs.test.ts.
    const marked = /<!-- statechart -->\n```mermaid\nstateDiagram-v2\n[\s\S]*?```\n<!-- \/statechart -->/g;
    expect(read(path)).toMatch(marked);
    expect(read(path).replace(marked, '')).not.toMatch(/^stateDiagram/m);
  },
);

test('docs/lifecycle.md speaks of every transition of the machine', async () => {
  const example = { name: 'example', phases: [{ name: 'only' }] };
  const { transitions } = await pipelineDiagram(example, 'json');
  expect(transitions.length).toBeGreaterThan(20);
  for (const { event } of transitions) expect(read('docs/lifecycle.md')).toContain(`\`${event}\``);
});

const rooms = markdown.filter((path) => /^src\/.*README\.md$/.test(path)).map((path) => dirname(path));

/** The files of a room: those in its folder, and those further down in folders that are no rooms themselves. Migrations are a list of their own. */
function filesOf(room: string): string[] {
  return readdirSync(join(ROOT, room), { withFileTypes: true }).flatMap((entry) => {
    const path = join(room, entry.name);
    if (entry.isDirectory()) return rooms.includes(path) || entry.name === 'migrations' ? [] : filesOf(path);
    return entry.name.endsWith('.md') ? [] : [path];
  });
}

/** The file a room's README means: its own, or that of a neighbour seen from any of the folders around the room. */
function meant(room: string, name: string): string | undefined {
  const own = filesOf(room).find((path) => path.endsWith(`/${name}`));
  const around = room.split('/').map((_, index, folders) => join(...folders.slice(0, index + 1), name));
  return own ?? around.find((path) => existsSync(join(ROOT, path)));
}

test.each(rooms)('%s/README.md names the files of its room, all of them and no others', (room) => {
  const named = [...read(`${room}/README.md`).matchAll(/`([\w/.-]+\.(?:ts|js|css|html|svg))`/g)].map(
    ([, name = '']) => [name, meant(room, name)] as const,
  );
  for (const [name, path] of named) expect(path, name).toBeDefined();
  expect(filesOf(room).filter((file) => !named.some(([, path]) => path === file))).toEqual([]);
});

test('every file but the entry and the migrations lives in a room that names it', () => {
  const files = readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.md'))
    .map(({ parentPath, name }) => join(parentPath, name).slice(ROOT.length + 1));
  const housed = new Set(rooms.flatMap(filesOf));
  const homeless = files.filter((file) => !housed.has(file) && !file.includes('/migrations/'));
  expect(homeless).toEqual(['src/index.ts']);
});

test('decisions are numbered without gaps, and their headings have the number', () => {
  const files = readdirSync(join(ROOT, 'docs/decisions')).sort();
  for (const [index, file] of files.entries()) {
    expect(file).toMatch(new RegExp(`^${String(index + 1).padStart(4, '0')}-`));
    expect(read(join('docs/decisions', file))).toMatch(new RegExp(`^# ${index + 1}\\. `));
  }
});

test('the events in the documentation are events of the queue', () => {
  for (const path of markdown) {
    for (const [name] of read(path).matchAll(/job:[a-z]+(?::[a-z]+)?/g)) expect(JOB_EVENT_NAMES).toContain(name);
  }
});
