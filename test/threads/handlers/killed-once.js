/** Runs away at its first attempt, and behaves at the second. */
export default (_job, ctx) => {
  if (ctx.attempt === 1) for (;;);
  return `attempt ${ctx.attempt}`;
};
