/**
 * Where everything goes in a picture: a drawing handed to ELK, its answer with absolute coordinates.
 * ELK computes on a thread of its own (`elk-thread.ts`), which is started when a picture is asked for.
 */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { ElkNode } from 'elkjs';
import type { Arrow, Box, Drawing } from '../../../actors/drawing.ts';
import { MillraceError } from '../../errors.ts';
import type { ElkAnswer } from './elk-thread.ts';

/** A place on the picture, in pixels. */
export interface Point {
  readonly x: number;
  readonly y: number;
}

/** A box with its place. */
export interface PlacedBox extends Point {
  readonly box: Box;
  readonly width: number;
  readonly height: number;
}

/** An arrow with its way, and where its label begins. */
export interface PlacedArrow {
  readonly arrow: Arrow;
  readonly points: readonly Point[];
  readonly label: (Point & { readonly width: number; readonly height: number }) | null;
}

/** A drawing with places. Outer boxes come before what is inside them. */
export interface Layout {
  readonly title: string;
  readonly width: number;
  readonly height: number;
  readonly boxes: readonly PlacedBox[];
  readonly arrows: readonly PlacedArrow[];
}

/** Sizes the picture is drawn with; the style sheet's fonts must fit them. */
export const METRICS = { nameWidth: 7.6, labelWidth: 6.65, labelLine: 14, boxHeight: 32, title: 28 } as const;

/** ELK asks every box with something inside for these, not only the outermost. */
const SPACING = {
  'elk.spacing.nodeNode': '20',
  'elk.spacing.edgeNode': '16',
  'elk.spacing.edgeEdge': '12',
  'elk.layered.spacing.nodeNodeBetweenLayers': '10',
  'elk.layered.spacing.edgeNodeBetweenLayers': '10',
  'elk.layered.spacing.edgeEdgeBetweenLayers': '8',
} as const;

const ROOT_OPTIONS = {
  ...SPACING,
  'elk.algorithm': 'layered',
  'elk.direction': 'DOWN',
  'elk.hierarchyHandling': 'INCLUDE_CHILDREN',
  'elk.edgeRouting': 'ORTHOGONAL',
  'elk.json.shapeCoords': 'ROOT',
  'elk.json.edgeCoords': 'ROOT',
  'elk.padding': '[top=16,left=16,bottom=16,right=16]',
  'elk.layered.cycleBreaking.strategy': 'MODEL_ORDER',
  'elk.layered.considerModelOrder.strategy': 'NODES_AND_EDGES',
  'elk.layered.nodePlacement.strategy': 'NETWORK_SIMPLEX',
} as const;

const INSIDE = {
  frame: { ...SPACING, 'elk.padding': '[top=14,left=16,bottom=14,right=16]' },
  compound: { ...SPACING, 'elk.padding': `[top=${METRICS.title + 10},left=16,bottom=14,right=16]` },
} as const;

const ON_THE_LINE = { 'elk.edgeLabels.inline': 'true' } as const;

/** Finds a place for everything. Throws `MillraceError` if elkjs, an optional dependency, is not installed. */
export async function layOut(drawing: Drawing): Promise<Layout> {
  const order = orderOf(drawing.boxes);
  const boxes = new Map<string, Box>();
  const root: ElkNode = {
    id: 'root',
    layoutOptions: ROOT_OPTIONS,
    children: drawing.boxes.map((box) => toNode(box, boxes)),
    edges: drawing.arrows.map(({ from, to, labels }, index) => ({
      id: `arrow-${index}`,
      sources: [from],
      targets: [to],
      labels: labels.length > 0 ? [{ text: labels.join('\n'), ...sizeOf(labels), layoutOptions: ON_THE_LINE }] : [],
      // Life goes downwards: only arrows back to an earlier state may point up.
      layoutOptions: { 'elk.layered.priority.direction': order.indexOf(from) < order.indexOf(to) ? '20' : '1' },
    })),
  };
  const placed = await placedByElk(root);
  return {
    title: drawing.title,
    width: Math.ceil(placed.width ?? 0),
    height: Math.ceil(placed.height ?? 0),
    boxes: placedBoxes(placed, boxes),
    arrows: drawing.arrows.map((arrow, index) => {
      const edge = placed.edges?.find(({ id }) => id === `arrow-${index}`);
      const section = edge?.sections?.[0];
      const label = edge?.labels?.[0];
      return {
        arrow,
        points: section ? straightened([section.startPoint, ...(section.bendPoints ?? []), section.endPoint]) : [],
        label: label ? { x: label.x ?? 0, y: label.y ?? 0, width: label.width ?? 0, height: label.height ?? 0 } : null,
      };
    }),
  };
}

/** ELK rounds, so that a line which should go straight down may lean by a pixel. */
function straightened(points: readonly Point[]): readonly Point[] {
  return points.map((point, index) => {
    const next = points[index + 1] ?? points[index - 1] ?? point;
    const upright = Math.abs(point.x - next.x) < 2 && Math.abs(point.y - next.y) > 4;
    return upright && index < points.length - 1 ? { x: next.x, y: point.y } : point;
  });
}

async function placedByElk(root: ElkNode): Promise<ElkNode> {
  const thread = new Worker(new URL('./elk-thread.js', import.meta.url), { workerData: root });
  try {
    const [answer] = (await once(thread, 'message')) as [ElkAnswer];
    if ('placed' in answer) return answer.placed;
    throw new MillraceError(
      'missing_dependency',
      `Pictures need "elkjs", an optional dependency that is not installed. Add it with: npm install elkjs (${answer.missing})`,
    );
  } finally {
    await thread.terminate();
  }
}

function toNode(box: Box, boxes: Map<string, Box>): ElkNode {
  boxes.set(box.id, box);
  if (box.kind === 'start') return { id: box.id, width: 14, height: 14 };
  if (box.boxes.length === 0) {
    return { id: box.id, width: Math.ceil(box.label.length * METRICS.nameWidth) + 32, height: METRICS.boxHeight };
  }
  return {
    id: box.id,
    layoutOptions: box.kind === 'frame' ? INSIDE.frame : INSIDE.compound,
    children: box.boxes.map((inner) => toNode(inner, boxes)),
  };
}

/** Ids of all boxes, outer ones first. */
function orderOf(boxes: readonly Box[]): readonly string[] {
  return boxes.flatMap((box) => [box.id, ...orderOf(box.boxes)]);
}

function sizeOf(lines: readonly string[]) {
  const longest = Math.max(...lines.map((line) => line.length));
  return { width: Math.ceil(longest * METRICS.labelWidth) + 8, height: lines.length * METRICS.labelLine + 4 };
}

function placedBoxes(node: ElkNode, boxes: ReadonlyMap<string, Box>): readonly PlacedBox[] {
  return (node.children ?? []).flatMap((child) => {
    const box = boxes.get(child.id);
    const { x = 0, y = 0, width = 0, height = 0 } = child;
    return box ? [{ box, x, y, width, height }, ...placedBoxes(child, boxes)] : [];
  });
}
