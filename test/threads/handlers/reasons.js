/** Waits until it is stopped, and tells with which code: in its log, and, since a stopped job keeps no more lines, as an error afterwards. */
export default (_job, ctx) => {
  ctx.progress(1);
  while (!ctx.signal.aborted);
  const { code } = ctx.signal.reason;
  ctx.log(`heard ${code}`);
  if (code !== 'shutdown') {
    setTimeout(() => {
      throw new Error(`heard ${code}`);
    }, 20);
  }
  throw ctx.signal.reason;
};
