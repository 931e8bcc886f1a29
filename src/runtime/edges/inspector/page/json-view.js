/** A value as a tree that can be folded. Text only, and never more than a person would read. */
import { el } from './dom.js';

const LONGEST_TEXT = 2_000;
const MOST_ENTRIES = 200;
const DEEPEST = 20;
/** Objects of so few entries are shown unfolded. */
const SMALL = 4;

/** Which folds the reader has opened or closed, by path; kept while the value changes. */
const folds = new Map();

/** Draws `value` into `parent`. */
export function drawJson(parent, value) {
  parent.replaceChildren(entries(value, '', 0));
}

function entries(value, path, depth) {
  const all = Object.entries(value);
  const list = el('ul', { class: 'json' });
  for (const [key, inner] of all.slice(0, MOST_ENTRIES)) list.append(entry(key, inner, `${path}/${key}`, depth));
  if (all.length > MOST_ENTRIES) list.append(el('li', { class: 'more' }, `… and ${all.length - MOST_ENTRIES} more`));
  return list;
}

function entry(key, value, path, depth) {
  const name = el('span', { class: 'key' }, key);
  if (typeof value !== 'object' || value === null) return el('li', {}, name, leaf(value));
  const size = Object.keys(value).length;
  const kind = Array.isArray(value) ? `[ ${size} ]` : `{ ${size} }`;
  if (size === 0 || depth > DEEPEST) return el('li', {}, name, el('span', { class: 'kind' }, kind));
  const open = folds.get(path) ?? (depth === 0 || (depth < 3 && size <= SMALL));
  const details = el('details', { open }, el('summary', {}, name, el('span', { class: 'kind' }, kind)));
  // What is folded is not drawn: a record may hold a megabyte.
  const fill = () => details.children.length === 1 && details.append(entries(value, path, depth + 1));
  if (open) fill();
  details.addEventListener('toggle', () => {
    folds.set(path, details.open);
    if (details.open) fill();
  });
  return el('li', {}, details);
}

function leaf(value) {
  const text = typeof value === 'string' ? shortened(value) : String(value);
  return el('span', { class: `value ${value === null ? 'null' : typeof value}` }, text);
}

function shortened(text) {
  const quoted = JSON.stringify(text.slice(0, LONGEST_TEXT));
  return text.length > LONGEST_TEXT ? `${quoted} … and ${text.length - LONGEST_TEXT} characters more` : quoted;
}
