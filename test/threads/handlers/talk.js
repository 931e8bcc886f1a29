/** Says things in every way there is. */
export default (job, ctx) => {
  console.log('hello %s', job.data, { deep: [1, 2] });
  console.warn('careful');
  console.error(new Error('only printed').message);
  console.debug('details');
  console.table([{ a: 1 }]);
  ctx.log('by hand', 'warn');
};

export const flood = () => {
  for (let i = 0; i < 5_000; i++) console.log(`line ${i}`);
  console.log('x'.repeat(100_000));
};

export const progress = async (_job, ctx) => {
  for (let i = 0; i <= 1_000_000; i++) ctx.progress(i / 10_000, `step ${i}`);
};
