/** elkjs is optional: without it only pictures are missing, and whoever asks for one is told what to install. */
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { expect, it } from 'vitest';
import { tempFolder } from '../../support/temp-database.ts';

it('says what to install', async () => {
  const root = new URL('../../../', import.meta.url);
  const folder = tempFolder();
  cpSync(new URL('dist', root), join(folder, 'dist'), { recursive: true });
  cpSync(new URL('package.json', root), join(folder, 'package.json'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(new URL('node_modules/xstate', root), join(folder, 'node_modules/xstate'));
  const file = pathToFileURL(join(folder, 'dist/runtime/edges/inspector/pipeline-diagram.js'));
  const { pipelineDiagram } = (await import(file.href)) as typeof import('millrace/inspector');
  const source = { name: 'p', phases: [{ name: 'only' }] };
  expect(await pipelineDiagram(source, 'mermaid')).toContain('active__only');
  await expect(pipelineDiagram(source, 'svg')).rejects.toMatchObject({
    code: 'missing_dependency',
    message: expect.stringContaining('npm install elkjs'),
  });
});
