/** The page's only way out: to the server it came from. */
import { JOB_EVENT_NAMES } from './vocabulary.js';

async function get(path) {
  const response = await fetch(path);
  if (response.ok) return response;
  const { problem } = await response.json().catch(() => ({ problem: response.statusText }));
  throw Object.assign(new Error(problem), { status: response.status });
}

/** Newest jobs and how many there are. */
export async function fetchJobs({ pipeline, status }) {
  const query = new URLSearchParams();
  if (pipeline) query.set('pipeline', pipeline);
  if (status) query.set('status', status);
  return (await get(`/api/jobs?${query}`)).json();
}

/** One job with its log. */
export async function fetchStory(id) {
  return (await get(`/api/jobs/${encodeURIComponent(id)}`)).json();
}

/** The statechart's definition, for other inspectors. */
export async function fetchDefinition(id) {
  return (await get(`/api/jobs/${encodeURIComponent(id)}/definition`)).text();
}

/** The job's picture, as an element. */
export async function fetchChart(id) {
  const text = await (await get(`/api/jobs/${encodeURIComponent(id)}/chart`)).text();
  return document.importNode(new DOMParser().parseFromString(text, 'image/svg+xml').documentElement, true);
}

/**
 * Listens to the queue for ever. `onOpen` is called on every connection, also after the server was away: whoever reads everything
 * again then has missed nothing. The browser reconnects by itself and says where it was, except when it was refused.
 */
export function listen({ onOpen, onTransition, onProgress, onReset, onState }) {
  const source = new EventSource('/events');
  const read = ({ data }) => {
    const event = JSON.parse(data);
    if (event.transition) onTransition(event);
    else if (event.type === 'job:progress') onProgress(event);
  };
  source.onopen = () => {
    onState('live');
    onOpen();
  };
  source.onerror = () => {
    onState('away');
    if (source.readyState !== EventSource.CLOSED) return;
    setTimeout(() => listen({ onOpen, onTransition, onProgress, onReset, onState }), 1_000);
  };
  for (const name of JOB_EVENT_NAMES) source.addEventListener(name, read);
  source.addEventListener('reset', onReset);
}
