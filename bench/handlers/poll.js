/** A tight loop that asks ctx.checkpoint() at every step, and notes the moment it was told to stop. */
import { appendFileSync } from 'node:fs';

export default (job, ctx) => {
  ctx.progress(1);
  try {
    for (;;) ctx.checkpoint();
  } catch (error) {
    const stopped = process.hrtime.bigint();
    appendFileSync(job.data.diary, `${job.data.n} ${stopped}\n`);
    throw error;
  }
};
