/**
 * What is drawn of a diagram: fewer arrows than it has transitions, saying the same. Ways between the same two
 * states share an arrow; one that leads to every child of a state ends at its border; and what three or more states have in
 * common is drawn once, from a frame around them. Every arrow names the moves it stands for. Pure, and without measures.
 */
import { allStates, type Diagram, type DiagramState, type DiagramTransition } from './diagram.ts';

/** Something with a border. Frames are drawn around states that share arrows; they are no states themselves. */
export interface Box {
  /** A state's id, or `frame-1` … for frames, or `start`. */
  readonly id: string;
  readonly label: string;
  readonly kind: DiagramState['kind'] | 'frame' | 'start';
  readonly boxes: readonly Box[];
}

/** An arrow from box to box. */
export interface Arrow {
  readonly from: string;
  readonly to: string;
  /** One line per event. */
  readonly labels: readonly string[];
  /** The moves it stands for, as {@link moveOf} writes them, between innermost states as a job's log has them. */
  readonly moves: readonly string[];
}

/** Boxes and arrows, in the machine's order. */
export interface Drawing {
  readonly title: string;
  readonly boxes: readonly Box[];
  readonly arrows: readonly Arrow[];
}

/** How a move is written: `pending:claimed:active.resize`. */
export function moveOf({ from, event, to }: { from: string | null; event: string; to: string }): string {
  return `${from ?? ''}:${event}:${to}`;
}

/** Fewer than this many states do not make a frame: it would be one more thing to look at. */
const FRAME_FROM = 3;

/** Decides what is drawn. */
export function drawingOf(diagram: Diagram): Drawing {
  const frames = framesOf(diagram);
  const framed = new Map(frames.flatMap(({ id, states }) => states.map((state) => [state, id] as const)));
  const boxes: Box[] = [{ id: 'start', label: '', kind: 'start', boxes: [] }];
  for (const state of diagram.states) {
    const frame = frames.find(({ states }) => states.includes(state.id));
    if (!frame) boxes.push(toBox(state));
    else if (frame.states[0] === state.id) {
      const inside = diagram.states.filter(({ id }) => frame.states.includes(id)).map(toBox);
      boxes.push({ id: frame.id, label: '', kind: 'frame', boxes: inside });
    }
  }
  const arrows = new Map<string, { from: string; to: string; labels: Set<string>; moves: string[] }>();
  const draw = (from: string, to: string, label: string, moves: readonly string[]) => {
    const arrow = arrows.get(`${from} ${to}`) ?? { from, to, labels: new Set(), moves: [] };
    arrows.set(`${from} ${to}`, arrow);
    if (label) arrow.labels.add(label);
    arrow.moves.push(...moves);
  };
  draw('start', diagram.initial, '', [moveOf({ from: null, event: 'born', to: diagram.initial })]);
  for (const way of diagram.transitions) {
    const frame = framed.get(way.from);
    const shared = frame && frames.some(({ id, ways }) => id === frame && ways.has(wayKey(way)));
    const to = parentIfAll(diagram, way);
    draw(shared ? frame : way.from, to, labelOf(diagram, way, to), movesOf(diagram, way));
  }
  return {
    title: diagram.title,
    boxes,
    arrows: [...arrows.values()].map((arrow) => ({ ...arrow, labels: [...arrow.labels] })),
  };
}

function toBox({ id, name, kind, states }: DiagramState): Box {
  return { id, label: name, kind, boxes: states.map(toBox) };
}

/** The event, and its guard where it chooses between two ways that are drawn apart. */
function labelOf(diagram: Diagram, { from, event, guard }: DiagramTransition, to: string): string {
  const elsewhere = diagram.transitions.some(
    (way) => way.from === from && way.event === event && parentIfAll(diagram, way) !== to,
  );
  return guard && elsewhere ? `${event} [${guard}]` : event;
}

function wayKey({ event, guard, to }: DiagramTransition): string {
  return `${event} ${guard} ${to}`;
}

interface Frame {
  readonly id: string;
  /** Top-level states, in order. */
  readonly states: readonly string[];
  readonly ways: ReadonlySet<string>;
}

/** The largest sets of top-level states with a way in common, none of which shares a state with another. */
function framesOf({ states, transitions }: Diagram): readonly Frame[] {
  const byWay = new Map<string, string[]>();
  for (const way of transitions) {
    if (!states.some(({ id }) => id === way.from)) continue;
    byWay.set(wayKey(way), [...(byWay.get(wayKey(way)) ?? []), way.from]);
  }
  const bySet = new Map<string, { states: readonly string[]; ways: Set<string> }>();
  for (const [way, members] of byWay) {
    const set = bySet.get(members.join()) ?? { states: members, ways: new Set() };
    bySet.set(members.join(), { ...set, ways: set.ways.add(way) });
  }
  const chosen: Frame[] = [];
  for (const set of [...bySet.values()].sort((a, b) => b.states.length - a.states.length)) {
    const free = set.states.every((state) => !chosen.some((frame) => frame.states.includes(state)));
    if (set.states.length >= FRAME_FROM && free) chosen.push({ id: `frame-${chosen.length + 1}`, ...set });
  }
  return chosen;
}

/** The target's parent, if the same event leads from the same state to each of its children. */
function parentIfAll({ states, transitions }: Diagram, { from, event, to }: DiagramTransition): string {
  const parent = allStates(states).find((state) => state.states.some(({ id }) => id === to));
  const reached = new Set(transitions.flatMap((way) => (way.from === from && way.event === event ? way.to : [])));
  return parent?.states.every(({ id }) => reached.has(id)) ? parent.id : to;
}

/** A job is never in a compound state as such, but always in one of its children. */
function movesOf({ states }: Diagram, { from, event, to }: DiagramTransition): readonly string[] {
  const source = allStates(states).find(({ id }) => id === from);
  const inner = source?.states.length ? source.states.map(({ id }) => id) : [from];
  return inner.map((state) => moveOf({ from: state, event, to }));
}
