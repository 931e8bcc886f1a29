/**
 * A layout as SVG. Groups carry `data-state`, arrows `data-moves`, so that a page only toggles classes. Colours live in a
 * style sheet of their own (`chart-style.ts`): a picture that stands alone brings it along.
 */
import { CHART_STYLE } from './chart-style.ts';
import { type Layout, METRICS, type PlacedArrow, type PlacedBox, type Point } from './layout.ts';

/** How round the corners of boxes and arrows are. */
const ROUND = { box: 9, compound: 13, bend: 7 } as const;

/** Draws a layout. `alone`: the picture brings its own colours, light and dark. Default true. */
export function toSvg(layout: Layout, { alone = true } = {}): string {
  const { width, height, boxes, arrows, title } = layout;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escaped(title)}</title>`,
    ...(alone ? [`<style>${CHART_STYLE}</style>`] : []),
    '<defs>',
    ...['tip', 'tip-taken', 'tip-last'].map(marker),
    '</defs>',
    ...boxes.filter(({ box }) => box.boxes.length > 0).map(drawBox),
    ...arrows.map(drawArrow),
    ...boxes.filter(({ box }) => box.boxes.length === 0).map(drawBox),
    ...arrows.flatMap((arrow) => drawLabel(arrow, boxes)),
    '</svg>',
  ].join('\n');
}

/** Arrow heads take no colour from their line in all browsers, so there is one per way an arrow can look. */
function marker(id: string): string {
  return (
    `<marker id="${id}" class="${id}" viewBox="0 0 10 10" refX="8.5" refY="5" markerWidth="7" markerHeight="7" orient="auto-start-reverse">` +
    '<path d="M1 1.5 L9 5 L1 8.5 Z"/></marker>'
  );
}

function drawBox({ box, x, y, width, height }: PlacedBox): string {
  if (box.kind === 'start') {
    const r = width / 2;
    return `<circle class="start" cx="${x + r}" cy="${y + r}" r="${r - 1}"/>`;
  }
  if (box.kind === 'frame') return `<rect class="frame" ${rect(x, y, width, height, ROUND.compound + 3)}/>`;
  const compound = box.boxes.length > 0;
  const round = compound ? ROUND.compound : ROUND.box;
  const inner =
    box.kind === 'final' ? `<rect class="inner" ${rect(x + 3, y + 3, width - 6, height - 6, round - 3)}/>` : '';
  const middle = compound ? y + METRICS.title / 2 + 3 : y + height / 2;
  const line = compound ? `<path class="line" d="M${x} ${y + METRICS.title} h${width}"/>` : '';
  return (
    `<g class="state ${box.kind}" data-state="${escaped(box.id)}"><rect ${rect(x, y, width, height, round)}/>${inner}${line}` +
    `<text x="${x + width / 2}" y="${middle}" dy=".35em">${escaped(box.label)}</text></g>`
  );
}

function drawArrow({ arrow, points }: PlacedArrow): string {
  return `<path class="arrow" data-moves="${escaped(arrow.moves.join(' '))}" d="${roundedPath(points)}"/>`;
}

/** A label sits on its line, so it hides the line behind it with the colour of what it lies on. */
function drawLabel({ arrow, label }: PlacedArrow, boxes: readonly PlacedBox[]): readonly string[] {
  if (!label) return [];
  const inside = boxes.some((placed) => placed.box.kind === 'compound' && contains(placed, label));
  const back = `<rect ${rect(label.x, label.y, label.width, label.height, 4)}/>`;
  const lines = arrow.labels.map((text, index) => {
    const [event, guard] = text.split(' ', 2);
    const rest = guard ? `<tspan class="guard"> ${escaped(guard)}</tspan>` : '';
    const y = label.y + 2 + (index + 0.5) * METRICS.labelLine;
    return `<text x="${label.x + label.width / 2}" y="${y}" dy=".35em">${escaped(event ?? '')}${rest}</text>`;
  });
  const moves = escaped(arrow.moves.join(' '));
  return [`<g class="label${inside ? ' inside' : ''}" data-moves="${moves}">${back}${lines.join('')}</g>`];
}

function contains(outer: PlacedBox, { x, y }: Point): boolean {
  return x >= outer.x && y >= outer.y && x <= outer.x + outer.width && y <= outer.y + outer.height;
}

function rect(x: number, y: number, width: number, height: number, round: number): string {
  return `x="${x}" y="${y}" width="${width}" height="${height}" rx="${round}"`;
}

/** A line through the points whose corners are rounded as far as the stretches allow. */
function roundedPath(points: readonly Point[]): string {
  const [first, ...rest] = points;
  if (!first) return '';
  let path = `M${first.x} ${first.y}`;
  for (const [index, point] of rest.entries()) {
    const before = points[index] ?? first;
    const after = rest[index + 1];
    if (!after) {
      path += ` L${point.x} ${point.y}`;
      continue;
    }
    const enter = towards(point, before);
    const leave = towards(point, after);
    path += ` L${enter.x} ${enter.y} Q${point.x} ${point.y} ${leave.x} ${leave.y}`;
  }
  return path;
}

/** The point on the way from `from` to `to` where a rounded corner begins. */
function towards(from: Point, to: Point): Point {
  const length = Math.hypot(to.x - from.x, to.y - from.y) || 1;
  const share = Math.min(ROUND.bend, length / 2) / length;
  return { x: round(from.x + (to.x - from.x) * share), y: round(from.y + (to.y - from.y) * share) };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (char) => `&#${char.charCodeAt(0)};`);
}
