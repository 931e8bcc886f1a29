/** Runs on a thread: compresses the pixels that the phase before returned. */
import { defineHandler } from 'millrace/threads';
import { encodeRows } from './png.js';

export default defineHandler((job, ctx) => {
  const part = encodeRows(ctx.phaseResult('render'), job.data.width);
  console.log(`${part.length} bytes became ${part.deflated.length}.`);
  // A result may hold bytes anywhere within it.
  return part;
});
