/** The page's files, as they lie in `page/`. There is no build step: what is there is what the browser gets. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
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
  files.set('/chart.css', { status: 200, type: 'text/css; charset=utf-8', body: CHART_STYLE });
  return files;
}
