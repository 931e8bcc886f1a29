import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** Every module that is loaded with `millrace/client`; what is not a file of the package is named as it is imported. */
function reachable(url: string, seen = new Set<string>()): ReadonlySet<string> {
  if (seen.has(url)) return seen;
  seen.add(url);
  if (!url.startsWith('file:')) return seen;
  const source = readFileSync(new URL(url), 'utf8');
  for (const [, name = ''] of source.matchAll(/(?:^|\n)\s*(?:import|export)\s[^;]*?from\s*'([^']+)'/g)) {
    reachable(name.startsWith('.') ? new URL(name, url).href : name, seen);
  }
  return seen;
}

test('the client is made for browsers too: it loads no module of Node, no database and no runtime', () => {
  const modules = [...reachable(import.meta.resolve('millrace/client'))];
  expect(modules.filter((name) => !name.startsWith('file:'))).toEqual(['eventsource-parser']);
  const files = modules.filter((name) => name.startsWith('file:')).map((name) => name.replace(/^.*\/dist\//, ''));
  expect(files).toContain('runtime/edges/client/read-events.js');
  expect(files.filter((name) => /store|supervisor|threads|queue|engine/.test(name))).toEqual([]);
});
