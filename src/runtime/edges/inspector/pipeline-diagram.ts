/** A pipeline's statechart in the form asked for. Layouts are made once per pipeline and list of phases, and kept. */
import { type Diagram, diagramOf } from '../../../actors/diagram.ts';
import { type Drawing, drawingOf } from '../../../actors/drawing.ts';
import { createJobMachine } from '../../../actors/job-machine.ts';
import { toMermaid } from '../../../actors/mermaid.ts';
import { InvalidInputError } from '../../errors.ts';
import { requireOneOf } from '../../options.ts';
import { type Layout, layOut } from './layout.ts';
import { toSvg } from './svg.ts';

/** What a diagram is made from; every pipeline fits. */
export interface DiagramSource {
  readonly name: string;
  readonly phases: readonly { readonly name: string }[];
}

/** The forms a diagram comes in. */
export type DiagramFormat = 'svg' | 'mermaid' | 'json';

/** So many layouts are kept: more than anybody has pipelines, and a few hundred kilobytes at most. */
const KEPT = 100;
const layouts = new Map<string, Promise<Layout>>();

/**
 * The statechart of a pipeline, read off the machine its jobs really run by. `svg` is a picture that stands alone and suits light and
 * dark, `mermaid` is text for documents, `json` is states and transitions as data. Always a promise; only `svg` needs elkjs.
 */
export function pipelineDiagram(pipeline: DiagramSource, format: 'json'): Promise<Diagram>;
export function pipelineDiagram(pipeline: DiagramSource, format?: 'svg' | 'mermaid'): Promise<string>;
export async function pipelineDiagram(
  pipeline: DiagramSource,
  format: DiagramFormat = 'svg',
): Promise<string | Diagram> {
  requireSource(pipeline);
  requireOneOf(format, 'format', ['svg', 'mermaid', 'json']);
  const diagram = toDiagram(pipeline);
  if (format === 'json') return diagram;
  if (format === 'mermaid') return toMermaid(drawingOf(diagram));
  return toSvg(await layoutOf(pipeline));
}

/** The picture for a page that brings its own style sheet. */
export async function bareSvg(pipeline: DiagramSource): Promise<string> {
  return toSvg(await layoutOf(pipeline), { alone: false });
}

function toDiagram({ name, phases }: DiagramSource): Diagram {
  const specs = phases.map((phase) => ({ name: phase.name, timeoutMs: null }));
  return diagramOf(createJobMachine({ pipeline: name, phases: specs }));
}

function layoutOf(pipeline: DiagramSource): Promise<Layout> {
  const key = [pipeline.name, ...pipeline.phases.map(({ name }) => name)].join('/');
  const known = layouts.get(key);
  if (known) return known;
  const drawing: Drawing = drawingOf(toDiagram(pipeline));
  const made = layOut(drawing);
  layouts.set(key, made);
  made.catch(() => layouts.delete(key));
  const [oldest] = layouts.keys();
  if (layouts.size > KEPT && oldest !== undefined) layouts.delete(oldest);
  return made;
}

function requireSource(pipeline: unknown): void {
  const { name, phases } = Object(pipeline) as Partial<DiagramSource>;
  const named = Array.isArray(phases) && phases.every((phase) => typeof phase?.name === 'string');
  if (typeof name !== 'string' || !named) {
    throw new InvalidInputError('pipeline', 'must be a pipeline, made by pipeline(name).');
  }
  if (phases.length === 0) throw new InvalidInputError('pipeline', `"${name}" has no phases to draw.`);
}
