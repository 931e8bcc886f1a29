/** A loop that listens to nobody. */
export default (_job, ctx) => {
  ctx.progress(1);
  for (;;);
};
