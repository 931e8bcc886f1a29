/** The right-hand side: phases, event log and context at the moment on show. */
import { el, part, reveal, say } from './dom.js';
import { count, moment, span, time } from './format.js';
import { drawJson } from './json-view.js';

const SOURCES = {
  now: '',
  seen: 'as it was committed',
  log: 'as the log tells it',
  entry: 'only this log entry is known',
};

/** Draws everything; `onStep` is called with the index of a log entry that was clicked. */
export function drawFacts(story, onStep) {
  const { record, source } = story.shown;
  for (const id of ['log-part', 'context-part']) part(id).hidden = false;
  drawPhases(record.phases);
  drawLog(story, onStep);
  say(part('context-note'), SOURCES[source]);
  drawJson(part('context'), record);
}

/** Nothing is chosen. */
export function hideFacts() {
  for (const id of ['phases-part', 'log-part', 'context-part']) part(id).hidden = true;
}

function drawPhases(phases) {
  part('phases-part').hidden = !phases;
  part('phases').replaceChildren(
    ...(phases ?? []).map(({ name, status, progress, message, startedAt, completedAt, error }) => {
      const took = startedAt !== null && completedAt !== null ? span(completedAt - startedAt) : '';
      const detail = status === 'failed' ? error : status === 'active' ? message : null;
      return el(
        'li',
        { 'data-status': status },
        el('span', { class: 'dot' }),
        el('span', { class: 'name' }, name),
        el('span', { class: 'took' }, took || (status === 'active' ? `${Math.round(progress)} %` : status)),
        status === 'active' ? el('progress', { max: 100, value: progress, 'aria-label': `Progress of ${name}` }) : null,
        detail ? el('span', { class: 'detail' }, detail) : null,
      );
    }),
  );
}

/** What the log showed last; progress changes nothing in it. */
let drawn = '';

function drawLog({ history, omitted, at }, onStep) {
  const key = `${history[0]?.jobId} ${history.length} ${at}`;
  if (key === drawn) return;
  drawn = key;
  const list = part('log');
  say(part('log-count'), count(history.length + omitted));
  const rows = history.map((entry, index) => {
    const before = history[index - 1];
    const state = index === at ? 'here' : index > at ? 'ahead' : 'past';
    return el(
      'li',
      { class: state, 'data-to': entry.to.split('.')[0] },
      el(
        'button',
        {
          type: 'button',
          'aria-current': index === at ? 'step' : 'false',
          click: () => onStep(index),
          title: moment(entry.at),
        },
        el('span', { class: 'seq' }, String(entry.seq)),
        el('span', { class: 'event' }, entry.event),
        el('time', {}, before ? `+${span(entry.at - before.at)}` : time(entry.at)),
        el('span', { class: 'way' }, entry.from ? `${entry.from} → ${entry.to}` : entry.to),
        entry.error ? el('span', { class: 'error' }, `${entry.error.name}: ${entry.error.message}`) : null,
      ),
    );
  });
  if (omitted > 0) rows.unshift(el('li', { class: 'more' }, `${count(omitted)} older entries are not shown`));
  list.replaceChildren(...rows);
  reveal(list.querySelector('.here'), list);
}
