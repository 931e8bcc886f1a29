/**
 * The page's files, as they lie in `page/`. There is no build step: what is there is what the browser gets, and beside it what the
 * page must share with the program: the look of statecharts, and the words for events and states.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { JOB_EVENT_NAMES, JOB_STATUSES } from '../../../actors/vocabulary.ts';
import type { Answer } from './answers.ts';
import { CHART_STYLE } from './chart-style.ts';

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
};

/** Answers by path. A list, not a folder: a request cannot reach anything else. */
export function pageFiles(): ReadonlyMap<string, Answer> {
  const folder = new URL('./page/', import.meta.url);
  const files = new Map<string, Answer>();
  for (const name of readdirSync(folder)) {
    const type = TYPES[extname(name)];
    if (type) files.set(`/${name}`, { status: 200, type, body: readFileSync(new URL(name, folder)) });
  }
  for (const [path, body] of [
    ['/chart.css', CHART_STYLE],
    ['/vocabulary.js', moduleOf({ JOB_EVENT_NAMES, JOB_STATUSES })],
  ] as const) {
    files.set(path, { status: 200, type: TYPES[extname(path)] ?? '', body });
  }
  return files;
}

function moduleOf(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join('');
}
