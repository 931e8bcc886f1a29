/** The page: one list, one chosen job, one moment of its story. Keeps what is known, and draws it once per frame. */
import { Chart } from './chart.js';
import { el, painter, part, say } from './dom.js';
import { drawFacts, hideFacts } from './facts.js';
import { drawFilters, filter, onFilter } from './filters.js';
import { moment, span } from './format.js';
import { JobList } from './job-list.js';
import { fetchJobs, fetchStory, listen } from './server.js';
import { Story } from './story.js';

const jobs = new Map();
let counts = {};
let stately = null;
let chosen = null;
let story = null;
let problem = null;

const chart = new Chart(part('chart'));
const list = new JobList(part('list'), choose);

/** Jobs may move thousands of times a second: what is asked for many times is drawn once, the list a few times a second. */
const paintList = painter(drawList, 200);
const paintStory = painter(drawStory, 0);

function drawList() {
  const wanted = [...jobs.values()].filter(isWanted);
  list.draw(wanted, filter.status ? { [filter.status]: counts[filter.status] } : counts, chosen);
}

function drawStory() {
  const { record } = story?.shown ?? { record: null };
  say(part('job-id'), chosen ?? 'No job');
  part('job-status').hidden = !story;
  part('time').hidden = !story;
  part('size').hidden = !story;
  part('stately').hidden = !(story && stately);
  if (!story) {
    say(part('job-note'), '');
    hideFacts();
    const text = problem ?? (chosen ? 'One moment …' : 'Choose a job on the left to see its statechart.');
    chart.clear(el('p', { class: 'empty' }, text));
    return;
  }
  const { entry, at, last, step } = story;
  const status = entry.to.split('.')[0];
  part('job-status').dataset.status = status;
  say(part('job-status'), entry.to);
  say(part('job-note'), noteOf(record));
  part('stately').href = `/stately?job=${encodeURIComponent(chosen)}`;
  const slider = part('step');
  slider.max = last;
  slider.value = at;
  part('first').disabled = part('back').disabled = at === 0;
  part('forth').disabled = step === null;
  part('now').setAttribute('aria-pressed', String(step === null));
  document.body.classList.toggle('in-the-past', step !== null);
  const since = entry.at - story.history[0].at;
  say(
    part('moment'),
    `step ${entry.seq} of ${story.history[last].seq} · ${entry.event} · ${moment(entry.at)}${since > 0 ? ` · ${span(since)} after birth` : ''}`,
  );
  chart.show(chosen, story);
  drawFacts(story, goTo);
}

function noteOf({ pipeline, attempt, maxAttempts, progress, status, reason }) {
  const parts = [pipeline];
  if (attempt > 0) parts.push(`attempt ${attempt}${maxAttempts ? ` of ${maxAttempts}` : ''}`);
  if (status === 'active') parts.push(`${progress} %`);
  if (reason) parts.push(reason);
  return parts.filter(Boolean).join(' · ');
}

function goTo(index) {
  story?.goTo(index);
  paintStory();
}

function choose(id) {
  if (id === chosen) return;
  location.hash = id ? `job=${encodeURIComponent(id)}` : '';
}

function isWanted({ pipeline, status }) {
  return (!filter.pipeline || pipeline === filter.pipeline) && (!filter.status || status === filter.status);
}

/** A record may arrive twice or late; only news counts. */
function learn(job) {
  const known = jobs.get(job.id);
  if (known && (job.seq < known.seq || (job.seq === known.seq && job.updatedAt < known.updatedAt))) return;
  const { id, pipeline, status, currentPhase, progress, attempt, createdAt, updatedAt, seq } = job;
  jobs.set(id, { id, pipeline, status, currentPhase, progress, attempt, createdAt, updatedAt, seq });
  paintList();
}

/** Reads the list again: now, or, after a burst of events, a moment later. */
let readingSoon = null;
function readSoon() {
  readingSoon ??= setTimeout(readJobs, 1_500);
}

async function readJobs() {
  clearTimeout(readingSoon);
  readingSoon = null;
  try {
    const found = await fetchJobs(filter);
    jobs.clear();
    for (const job of found.jobs) jobs.set(job.id, job);
    counts = found.stats.jobs;
    stately = found.stately;
    drawFilters(found.stats);
    if (chosen === null && !problem) chooseFirst();
    paintList();
    paintStory();
  } catch {
    // The server is away; the next connection reads everything again.
  }
}

/** Something to look at from the start: the newest job that runs, or else the newest one. */
function chooseFirst() {
  const all = [...jobs.values()].sort((a, b) => b.updatedAt - a.updatedAt);
  const first = all.find(({ status }) => status === 'active') ?? all[0];
  if (first) history.replaceState(null, '', `#job=${encodeURIComponent(first.id)}`);
  if (first) void readHash();
}

async function readStory() {
  const id = chosen;
  if (id === null) return paintStory();
  try {
    const found = new Story(await fetchStory(id));
    if (id !== chosen) return;
    found.step = story?.step ?? null;
    story = found;
    problem = null;
  } catch (error) {
    if (id !== chosen || error.status === undefined) return;
    story = null;
    problem = error.message;
  }
  paintList();
  paintStory();
}

async function readHash() {
  const id = new URLSearchParams(location.hash.slice(1)).get('job') || null;
  if (id === chosen) return;
  chosen = id;
  story = null;
  problem = null;
  paintList();
  paintStory();
  await readStory();
}

listen({
  onState: (state) => {
    part('connection').dataset.state = state;
    say(part('connection'), state === 'live' ? 'live' : 'server away, reconnecting');
  },
  onOpen: () => Promise.all([readJobs(), readStory()]),
  onReset: () => Promise.all([readJobs(), readStory()]),
  onTransition: (event) => {
    if (event.job) learn(event.job);
    else jobs.delete(event.transition.jobId);
    readSoon();
    if (event.transition.jobId !== chosen) return;
    if (story?.take(event)) paintStory();
    else void readStory();
  },
  onProgress: ({ job }) => {
    learn(job);
    if (job.id !== chosen) return;
    story?.progress(job);
    paintStory();
  },
});

onFilter(readJobs, choose);
part('first').onclick = () => goTo(0);
part('back').onclick = () => goTo((story?.at ?? 0) - 1);
part('forth').onclick = () => goTo((story?.at ?? 0) + 1);
part('now').onclick = () => goTo(Number.POSITIVE_INFINITY);
part('step').oninput = ({ target }) => goTo(Number(target.value));
part('size').onclick = ({ target }) => {
  const full = target.getAttribute('aria-pressed') === 'false';
  target.setAttribute('aria-pressed', String(full));
  chart.full = full;
};
addEventListener('hashchange', readHash);
addEventListener('keydown', ({ key, target, altKey, ctrlKey, metaKey }) => {
  if (altKey || ctrlKey || metaKey || /^(INPUT|SELECT)$/.test(target.tagName)) return;
  const button = { Home: 'first', ArrowLeft: 'back', ArrowRight: 'forth', End: 'now' }[key];
  if (button) part(button).click();
});
// "12 s" grows old by itself.
setInterval(paintList, 5_000);
void readHash();
