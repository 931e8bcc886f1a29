/** The diagram is the machine, in the machine's own order; the drawing says the same with fewer arrows. */
import { createJobMachine } from 'millrace';
import { pipelineDiagram } from 'millrace/inspector';
import { describe, expect, it } from 'vitest';
import { drawingOf, moveOf } from '../../../src/actors/drawing.ts';

const thumbnails = { name: 'thumbnails', phases: [{ name: 'download' }, { name: 'resize' }, { name: 'upload' }] };
const diagram = await pipelineDiagram(thumbnails, 'json');

describe('the diagram as data', () => {
  it('has the states in the order the machine declares them', () => {
    const machine = createJobMachine({
      pipeline: 'thumbnails',
      phases: thumbnails.phases.map(({ name }) => ({ name, timeoutMs: null })),
    });
    expect(diagram.states.map(({ name }) => name)).toEqual(Object.keys(machine.config.states ?? {}));
    const active = diagram.states.find(({ id }) => id === 'active');
    expect(active?.states.map(({ id }) => id)).toEqual(['active.download', 'active.resize', 'active.upload']);
    expect(diagram.initial).toBe('pending');
  });

  it('has every way from state to state, with its guard', () => {
    expect(diagram.transitions).toContainEqual({
      from: 'active',
      to: 'retrying',
      event: 'phaseFailed',
      guard: 'mayRetry',
    });
    expect(diagram.transitions).toContainEqual({
      from: 'active.upload',
      to: 'completed',
      event: 'phaseCompleted',
      guard: null,
    });
    expect(diagram.transitions.filter(({ event }) => event === 'progressed')).toEqual([]);
  });
});

describe('the drawing', () => {
  const drawing = drawingOf(diagram);

  it('draws what several states share once, from a frame around them', () => {
    const [unfinished, ended] = drawing.boxes.filter(({ kind }) => kind === 'frame');
    expect(unfinished?.boxes.map(({ id }) => id)).toEqual(['blocked', 'pending', 'active', 'retrying', 'paused']);
    expect(ended?.boxes.map(({ id }) => id)).toEqual(['completed', 'failed', 'cancelled']);
    const cancels = drawing.arrows.filter(({ labels }) => labels.includes('cancel'));
    expect(cancels.map(({ from, to }) => [from, to])).toEqual([['frame-1', 'cancelled']]);
  });

  it('lets a claim end at the border of active, whichever phase comes next', () => {
    const claims = drawing.arrows.filter(({ labels }) => labels.includes('claimed'));
    expect(claims.map(({ from, to, labels }) => [from, to, labels])).toEqual([
      ['pending', 'active', ['claimed']],
      ['retrying', 'active', ['claimed']],
    ]);
  });

  it('stands, arrow by arrow, for every move a log can hold, each exactly once', () => {
    const inner = (state: string) => diagram.states.find(({ id }) => id === state)?.states.map(({ id }) => id) ?? [];
    const possible = diagram.transitions.flatMap(({ from, event, to }) =>
      (inner(from).length > 0 ? inner(from) : [from]).map((state) => moveOf({ from: state, event, to })),
    );
    const drawn = drawing.arrows.flatMap(({ moves }) => moves);
    expect(new Set(drawn)).toEqual(new Set([':born:pending', ...possible]));
    expect(drawn).toHaveLength(new Set(drawn).size);
  });
});

describe('the mermaid text', () => {
  it('is a state diagram with one line per arrow', async () => {
    const text = await pipelineDiagram(thumbnails, 'mermaid');
    expect(text.split('\n')[0]).toBe('stateDiagram-v2');
    expect(text).toContain('active__download --> active__resize: phaseCompleted');
    expect(text).toContain('[*] --> pending');
    expect(text).toContain('deleted --> [*]');
  });
});

it.each([
  [null, 'svg', 'pipeline'],
  [{ name: 'x', phases: [] }, 'svg', 'no phases'],
  [{ name: 'x', phases: [{}] }, 'svg', 'must be a pipeline'],
  [thumbnails, 'png', 'format'],
])('refuses %j as %s', async (source, format, words) => {
  await expect(pipelineDiagram(source as never, format as never)).rejects.toThrow(words);
});
