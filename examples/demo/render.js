/** Runs on a thread: the tight loop. Nothing here awaits anything, and yet it can be stopped between any two pixels. */
import { defineHandler, RecoverableError } from 'millrace/threads';
import { colorOf } from './scene/picture.js';

export default defineHandler((job, ctx) => {
  const { width, height, failures = 0 } = job.data;
  const { top, rows } = ctx.phaseResult('plan');
  const pixels = new Uint8Array(width * rows * 3);
  let at = 0;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < width; column++) {
      // Throws if the job was cancelled, is out of time, or the queue shuts down. About ten nanoseconds otherwise.
      ctx.checkpoint();
      pixels.set(colorOf(column, top + row, width, height), at);
      at += 3;
    }
    // As often as you like: on its way out of the thread, only the latest of each 25 ms counts.
    ctx.progress(((row + 1) / rows) * 100, `row ${row + 1} of ${rows}`);
    if (ctx.attempt <= failures && row >= rows / 3) {
      // The console of a handler is the job's log: `queue.logs(id)`.
      console.warn(`The lamp went out at row ${row + 1}.`);
      throw new RecoverableError('The lamp went out.');
    }
  }
  // Bytes are moved to the main thread, not copied, and stored with the commit that completes the phase.
  return pixels;
});
