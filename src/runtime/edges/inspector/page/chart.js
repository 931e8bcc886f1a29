/** The statechart: fetched once per pipeline, then only classes are toggled. */
import { el, reveal } from './dom.js';
import { fetchChart } from './server.js';

const SMALLEST = 0.7;
const LARGEST = 1.2;

export class Chart {
  #area;
  #svg = null;
  #key = null;
  #lit = null;
  #full = false;

  constructor(area) {
    this.#area = area;
    new ResizeObserver(() => this.#fit()).observe(area);
  }

  /** Shows the job's picture, lit as its story says. */
  async show(id, story) {
    if (this.#key !== story.chart) {
      this.#key = story.chart;
      try {
        const svg = await fetchChart(id);
        if (this.#key !== story.chart) return;
        this.#svg = svg;
        this.#area.replaceChildren(svg);
        this.#fit();
      } catch (error) {
        this.#svg = null;
        if (this.#key === story.chart) this.#key = null;
        this.#area.replaceChildren(el('p', { class: 'empty' }, error.message));
      }
    }
    this.#light(story);
  }

  clear(...content) {
    this.#key = null;
    this.#svg = null;
    this.#lit = null;
    this.#area.replaceChildren(...content);
  }

  /** In full size, or as much of it as fits. */
  set full(full) {
    this.#full = full;
    this.#fit();
    reveal(this.#svg?.querySelector('.lit'), this.#area, { centre: true });
  }

  #light({ history, at, entry }) {
    if (!this.#svg || !entry) return;
    const path = history.slice(0, at + 1);
    const states = new Set(path.map(({ to }) => to));
    const moves = new Set(path.map(moveOf));
    const last = moveOf(entry);
    for (const group of this.#svg.querySelectorAll('[data-state]')) {
      const state = group.dataset.state;
      group.classList.toggle('lit', state === entry.to);
      group.classList.toggle('around', entry.to.startsWith(`${state}.`));
      group.classList.toggle('seen', states.has(state));
    }
    for (const arrow of this.#svg.querySelectorAll('[data-moves]')) {
      const words = arrow.dataset.moves.split(' ');
      arrow.classList.toggle(
        'taken',
        words.some((move) => moves.has(move)),
      );
      arrow.classList.toggle('last', words.includes(last));
    }
    if (this.#lit !== entry.to) {
      this.#lit = entry.to;
      reveal(this.#svg.querySelector('.lit'), this.#area, { behavior: 'smooth' });
    }
  }

  /** As large as the area allows, within what can be read. */
  #fit() {
    if (!this.#svg) return;
    const { width, height } = this.#svg.viewBox.baseVal;
    const room = Math.min((this.#area.clientWidth - 24) / width, (this.#area.clientHeight - 24) / height);
    const scale = this.#full ? LARGEST : Math.min(LARGEST, Math.max(SMALLEST, room));
    this.#svg.setAttribute('width', width * scale);
    this.#svg.setAttribute('height', height * scale);
    reveal(this.#svg.querySelector('.lit'), this.#area);
  }
}

/** As the picture's `data-moves` has it. */
function moveOf({ from, event, to }) {
  return `${from ?? ''}:${event}:${to}`;
}
