/** A drawing as Mermaid's `stateDiagram-v2`, for documents that draw it themselves. */
import type { Box, Drawing } from './drawing.ts';

/** Writes the drawing down; ends without a line break. */
export function toMermaid({ boxes, arrows }: Drawing): string {
  const lines = ['stateDiagram-v2', '  direction LR'];
  const declare = (box: Box, indent: string) => {
    if (box.kind === 'start') return;
    if (box.boxes.length === 0) {
      lines.push(`${indent}state "${box.label}" as ${keyOf(box.id)}`);
      return;
    }
    lines.push(`${indent}state "${box.label || ' '}" as ${keyOf(box.id)} {`);
    for (const inner of box.boxes) declare(inner, `${indent}  `);
    lines.push(`${indent}}`);
  };
  for (const box of boxes) declare(box, '  ');
  for (const { from, to, labels } of arrows) {
    const label = labels.length > 0 ? `: ${labels.join('<br>')}` : '';
    lines.push(`  ${keyOf(from)} --> ${keyOf(to)}${label}`);
  }
  const ends = boxes.filter(({ kind }) => kind === 'final').map(({ id }) => `  ${keyOf(id)} --> [*]`);
  return [...lines, ...ends].join('\n');
}

/** Mermaid's names hold neither dots nor dashes. */
function keyOf(id: string): string {
  return id === 'start' ? '[*]' : id.replaceAll('.', '__').replaceAll('-', '_dash_');
}
