/** The picture: everything is in it, labels lie on nobody, and a page can find every state and arrow. */
import { pipelineDiagram } from 'millrace/inspector';
import { describe, expect, it } from 'vitest';
import { drawingOf } from '../../../dist/actors/drawing.js';
import { layOut } from '../../../dist/runtime/edges/inspector/layout.js';
import { toSvg } from '../../../dist/runtime/edges/inspector/svg.js';

const phaseLists = [
  ['only'],
  ['fetch', 'crunch', 'store'],
  ['download', 'transcode', 'make-thumbnails', 'extract_audio', 'upload', 'notify', 'archive'],
];
const source = (phases: readonly string[]) => ({ name: 'p', phases: phases.map((name) => ({ name })) });

interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}
const overlap = (a: Area, b: Area) =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

describe.each(phaseLists.map((phases) => [phases.length, phases] as const))(
  'with %i phase(s)',
  async (_count, phases) => {
    const drawing = drawingOf(await pipelineDiagram(source(phases), 'json'));
    const layout = await layOut(drawing);

    it('no label lies on a state or on another label', () => {
      const labels = layout.arrows.flatMap(({ arrow, label }) =>
        label ? [{ name: arrow.labels.join(), ...label }] : [],
      );
      const states = layout.boxes.filter(({ box }) => box.boxes.length === 0);
      expect(labels.length).toBeGreaterThan(15);
      for (const [index, label] of labels.entries()) {
        expect(states.filter((state) => overlap(state, label)).map(({ box }) => [label.name, box.id])).toEqual([]);
        expect(labels.filter((other, at) => at > index && overlap(other, label))).toEqual([]);
      }
    });

    it('every arrow runs upright or level from box to box', () => {
      for (const { arrow, points } of layout.arrows) {
        expect(points.length, `${arrow.from} to ${arrow.to}`).toBeGreaterThan(1);
        for (const [index, point] of points.slice(1).entries()) {
          const before = points[index] ?? point;
          expect(Math.min(Math.abs(point.x - before.x), Math.abs(point.y - before.y))).toBeLessThan(0.01);
        }
      }
    });

    it('every arrow is drawn, and every state can be found by its id, phases in order', () => {
      const svg = toSvg(layout);
      expect(svg.match(/class="arrow"/g)).toHaveLength(drawing.arrows.length);
      expect(svg).not.toMatch(/ d=""|NaN|undefined/);
      const states = [...svg.matchAll(/data-state="active\.([^"]+)"/g)].map(([, name]) => name);
      expect(states).toEqual(phases);
    });
  },
);

it('is made once, beside the event loop: asking again costs nothing to speak of', async () => {
  let turns = 0;
  const watch = setInterval(() => turns++, 5);
  const first = await pipelineDiagram(source(['a', 'b']), 'svg');
  clearInterval(watch);
  expect(turns, 'the event loop is free while ELK computes').toBeGreaterThan(10);
  const started = performance.now();
  expect(await pipelineDiagram(source(['a', 'b']), 'svg')).toBe(first);
  expect(performance.now() - started).toBeLessThan(50);
});

it('a name that is no name cannot break out of the picture', async () => {
  const svg = await pipelineDiagram({ name: '<script>', phases: [{ name: 'a"><script>alert(1)</script>' }] }, 'svg');
  expect(svg).not.toContain('<script');
});
