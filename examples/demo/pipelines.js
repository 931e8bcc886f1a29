/** The pipelines of the demo. A pipeline is a name and phases in order; this is all Millrace needs to know of the work. */
import { pipeline } from 'millrace';

const file = (name) => new URL(name, import.meta.url);

/** Runs in the main process: which rows of the picture are this job's? Small and quick, so a thread would be a waste. */
function plan({ data: { part, parts, height } }) {
  const top = Math.round((part * height) / parts);
  return { top, rows: Math.round(((part + 1) * height) / parts) - top };
}

/** One band of the picture: three phases, and each one's result is stored before the next begins. */
export const picture = pipeline('picture')
  .phase('plan', plan)
  .phase('render', { worker: file('./render.js'), timeoutMs: 120_000 })
  .phase('encode', { worker: file('./encode.js') })
  .options({
    // Four bands are held at a time; the others are rows in the database and cost nothing.
    concurrency: 4,
    // A RecoverableError is tried again after 400 ms; any other error of a handler fails its job at once.
    retry: { maxAttempts: 5, disposition: 'fatal', backoff: { type: 'fixed', baseMs: 400 } },
  });

/** The same work, far too much of it, in a pool of its own: it cannot take a thread away from the picture. */
export const poster = pipeline('poster')
  .phase('plan', plan)
  .phase('render', { worker: file('./render.js'), pool: 'side' })
  .phase('encode', { worker: file('./encode.js'), pool: 'side' });

/** A handler that listens to nobody. After `timeoutMs` it is asked to stop, and `graceMs` later its thread is ended. */
export const runaway = pipeline('runaway').phase('spin', {
  worker: file('./runaway.js'),
  pool: 'side',
  timeoutMs: 1_500,
  graceMs: 250,
});
