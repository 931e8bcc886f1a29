/**
 * Shows one job in another inspector (by default the hosted one of Stately) inside a frame: its whole log first, then what
 * happens live, in the messages that `@statelyai/inspect` speaks. Only served when the user has asked for it.
 */
import { fetchDefinition, fetchJobs, fetchStory, listen } from './server.js';
import { Story } from './story.js';

const id = new URLSearchParams(location.search).get('job');
const { stately } = await fetchJobs({});
const frame = document.createElement('iframe');
frame.src = stately;
document.body.append(frame);

const ROOT = 'supervisor';
const SESSION = `${ROOT}/${id}`;
const common = { _version: '0.7.2', id: null, rootId: ROOT };
const waiting = [];
let connected = false;

addEventListener('message', ({ source, data }) => {
  if (source !== frame.contentWindow || data?.type !== '@statelyai.connected') return;
  connected = true;
  for (const message of waiting.splice(0)) post(message);
});

function post(message) {
  if (connected) frame.contentWindow.postMessage(message, new URL(stately).origin);
  else waiting.push(message);
}

function introduce(sessionId, name, definition, snapshot) {
  const parentId = sessionId === ROOT ? undefined : ROOT;
  post({
    ...common,
    type: '@xstate.actor',
    name,
    sessionId,
    parentId,
    definition,
    snapshot,
    createdAt: String(Date.now()),
  });
}

function tell({ event: type, at, from, to, phase, attempt, error, seq }, record) {
  const event = { type, at, seq, from, to, phase, attempt, error };
  const told = { ...common, sessionId: SESSION, event, createdAt: String(at) };
  post({ ...told, type: '@xstate.event', sourceId: ROOT });
  post({ ...told, type: '@xstate.snapshot', snapshot: snapshotOf(to, record) });
}

function snapshotOf(state, context) {
  const [parent, child] = state.split('.');
  const value = child === undefined ? parent : { [parent]: child };
  const status = state === 'deleted' ? 'done' : 'active';
  return { status, value, context, historyValue: {}, tags: [], children: {} };
}

/** Tells what is not told yet. One reading at a time: two would tell the same. */
let told = -1;
let reading = Promise.resolve();
function catchUp() {
  reading = reading.then(readOn).catch(() => {});
  return reading;
}

async function readOn() {
  const story = new Story(await fetchStory(id));
  if (told < 0) {
    introduce(ROOT, ROOT, JSON.stringify({ id: ROOT }), { status: 'active', context: {}, children: {} });
    story.goTo(0);
    introduce(SESSION, id, await fetchDefinition(id), snapshotOf(story.entry.to, story.shown.record));
  }
  for (const [index, entry] of story.history.entries()) {
    if (entry.seq <= told) continue;
    story.goTo(index);
    tell(entry, story.shown.record);
    told = entry.seq;
  }
}

listen({
  onState() {},
  onOpen: catchUp,
  onReset: catchUp,
  onProgress() {},
  onTransition: ({ transition }) => transition.jobId === id && catchUp(),
});
