/** The list on the left: what runs, what waits, what has ended. Rows are kept, so that a click never misses. */
import { el, hold, say } from './dom.js';
import { ago, count } from './format.js';

const GROUPS = [
  { name: 'Running', statuses: ['active'] },
  { name: 'Waiting', statuses: ['pending', 'retrying', 'paused', 'blocked'] },
  { name: 'Finished', statuses: ['completed', 'failed', 'cancelled', 'stale'] },
];

/** Rows shown of a group. The rest can be found by id. */
const SHOWN = 100;

export class JobList {
  #rows = new Map();
  #groups;
  #onChoose;

  constructor(parent, onChoose) {
    this.#onChoose = onChoose;
    this.#groups = GROUPS.map((group) => {
      const total = el('span');
      const rows = el('ul');
      const section = el('section', {}, el('h3', {}, group.name, ' ', total), rows);
      parent.append(section);
      return { ...group, section, total, rows };
    });
  }

  /** Draws the jobs; `counts` are of all there are, by status. */
  draw(jobs, counts, chosen) {
    const now = Date.now();
    const used = new Set();
    for (const { name, statuses, section, total, rows } of this.#groups) {
      const mine = jobs
        .filter(({ status }) => statuses.includes(status))
        .sort(name === 'Finished' ? byUpdate : byBirth)
        .slice(0, SHOWN);
      const all = statuses.reduce((sum, status) => sum + (counts[status] ?? 0), 0);
      section.hidden = mine.length === 0;
      say(total, mine.length === SHOWN && all > SHOWN ? `${count(mine.length)} of ${count(all)}` : count(mine.length));
      hold(
        rows,
        mine.map((job) => {
          used.add(job.id);
          return this.#row(job, now, job.id === chosen);
        }),
      );
    }
    for (const id of this.#rows.keys()) if (!used.has(id)) this.#rows.delete(id);
  }

  #row(job, now, chosen) {
    let row = this.#rows.get(job.id);
    if (!row) {
      row = this.#newRow(job);
      this.#rows.set(job.id, row);
    }
    const { item, button, where, when, bar } = row;
    item.dataset.status = job.status;
    button.setAttribute('aria-current', String(chosen));
    const attempt = job.attempt > 1 ? ` · attempt ${job.attempt}` : '';
    say(where, `${job.pipeline} · ${job.status === 'active' ? job.currentPhase : job.status}${attempt}`);
    say(when, ago(job.updatedAt, now));
    bar.value = job.progress;
    bar.hidden = job.status !== 'active';
    return item;
  }

  #newRow({ id }) {
    const where = el('span', { class: 'where' });
    const when = el('time');
    const bar = el('progress', { max: 100, 'aria-label': 'Progress' });
    const button = el(
      'button',
      { type: 'button', title: id, click: () => this.#onChoose(id) },
      el('span', { class: 'dot' }),
      el('span', { class: 'id' }, shortened(id)),
      when,
      where,
      bar,
    );
    return { item: el('li', {}, button), button, where, when, bar };
  }
}

/** Jobs that move keep their place; a list that jumps cannot be read. */
function byBirth(a, b) {
  return b.createdAt - a.createdAt || (a.id < b.id ? 1 : -1);
}

function byUpdate(a, b) {
  return b.updatedAt - a.updatedAt || byBirth(a, b);
}

/** Long ids differ at their end as often as at their beginning. */
function shortened(id) {
  return id.length > 27 ? `${id.slice(0, 12)}…${id.slice(-13)}` : id;
}
