/** Uses CPU, and nothing else, for about as long as it is told. */
export default (job, ctx) => {
  const end = performance.now() + job.data.ms;
  let x = 0;
  while (performance.now() < end) x += Math.sqrt(x + 1);
  return { x: Math.round(x), checkpoint: typeof ctx.checkpoint };
};

export const sleepy = (job) => new Promise((resolve) => setTimeout(resolve, job.data.ms, 'rested'));
