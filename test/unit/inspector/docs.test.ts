/** The statechart in the documents is the machine's own: whoever changes the machine is told to renew it here. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { pipelineDiagram } from 'millrace/inspector';
import { expect, it } from 'vitest';

/** The pipeline the documents draw. */
const example = { name: 'thumbnails', phases: [{ name: 'download' }, { name: 'resize' }, { name: 'upload' }] };
const root = new URL('../../../', import.meta.url);
const documents = ['README.md', 'docs/lifecycle.md', 'docs/inspector.md'].filter((name) =>
  existsSync(new URL(name, root)),
);

const command = 'RENEW=1 npx vitest run test/unit/inspector/docs.test.ts';
const place = /(?<=<!-- statechart -->)[\s\S]*?(?=<!-- \/statechart -->)/g;

it.each(documents)('%s draws the statechart as it is', async (name) => {
  const file = new URL(name, root);
  const text = readFileSync(file, 'utf8');
  const drawn = `\n\`\`\`mermaid\n${await pipelineDiagram(example, 'mermaid')}\n\`\`\`\n`;
  const wanted = text.replace(place, () => drawn);
  if (process.env.RENEW) writeFileSync(file, wanted);
  else
    expect(text, `The statechart in ${name} is not the machine's (any more); renew it with: ${command}`).toBe(wanted);
});
