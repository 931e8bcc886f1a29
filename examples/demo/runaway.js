/** Runs on a thread, and away. No checkpoint, no await, no end: only the end of its thread stops it. */
export default (_job, ctx) => {
  ctx.progress(1, 'running away');
  for (;;);
};
