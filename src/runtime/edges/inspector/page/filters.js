/** Which jobs the list shows: by pipeline, by status, or the one with this id. */
import { el, hold, part, say } from './dom.js';
import { count } from './format.js';
import { JOB_STATUSES } from './vocabulary.js';

/** The filter in force; empty strings mean everything. */
export const filter = { pipeline: '', status: '' };

const chips = new Map();
let changed = () => {};

/** Offers what there is, with how many there are. */
export function drawFilters({ jobs, pipelines }) {
  const names = Object.keys(pipelines).sort();
  const select = part('pipeline');
  if (
    [...select.options]
      .slice(1)
      .map(({ value }) => value)
      .join() !== names.join()
  ) {
    select.replaceChildren(
      el('option', { value: '' }, 'All pipelines'),
      ...names.map((name) => el('option', { value: name }, name)),
    );
    select.value = names.includes(filter.pipeline) ? filter.pipeline : '';
  }
  const counted = filter.pipeline ? (pipelines[filter.pipeline] ?? {}) : jobs;
  for (const status of JOB_STATUSES) if (counted[status] > 0 && !chips.has(status)) chips.set(status, chip(status));
  hold(
    part('statuses'),
    JOB_STATUSES.flatMap((status) => chips.get(status)?.button ?? []),
  );
  for (const [status, { button, total }] of chips) {
    say(total, count(counted[status] ?? 0));
    button.setAttribute('aria-pressed', String(filter.status === status));
  }
}

/** Calls back when the filter has changed, and with an id that somebody typed. */
export function onFilter(callback, onId) {
  changed = callback;
  part('pipeline').onchange = ({ target }) => {
    filter.pipeline = target.value;
    changed();
  };
  part('search').onchange = ({ target }) => {
    if (target.value.trim()) onId(target.value.trim());
  };
}

function chip(status) {
  const total = el('span');
  const toggle = () => {
    filter.status = filter.status === status ? '' : status;
    changed();
  };
  const button = el('button', { type: 'button', 'data-status': status, 'aria-pressed': 'false', click: toggle });
  button.append(el('span', { class: 'dot' }), status, ' ', total);
  return { button, total };
}
