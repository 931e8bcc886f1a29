// A process that runs a two-phase pipeline and dies by SIGKILL where it is told to.
// argv: database, diary file, point ('mid-phase', a turn's point or 'never'), on which occurrence
import { appendFileSync } from 'node:fs';
import { JobQueue, pipeline } from 'millrace';

const [database, diary, point, occurrence] = process.argv.slice(2);
let left = Number(occurrence);

function reach(name) {
  if (name === point && --left === 0) process.kill(process.pid, 'SIGKILL');
}

const note = (text) => appendFileSync(diary, `${text}\n`);

const work = pipeline('work')
  .phase('first', (job) => {
    note(`run ${job.id} first`);
    reach('mid-phase');
    return 1;
  })
  .phase('second', (job, ctx) => {
    note(`run ${job.id} second`);
    reach('mid-phase');
    return ctx.phaseResult('first') + 1;
  })
  .options({ retry: { maxAttempts: 20, disposition: 'fatal' } });

const queue = new JobQueue({ database, pipelines: [work], concurrency: 4, onPoint: reach });
queue.on('job:phase:completed', ({ job, transition }) => note(`told ${job.id} ${transition.phase}`));
queue.on('job:completed', async () => {
  const { jobs } = await queue.stats();
  if (!jobs.pending && !jobs.active && !jobs.retrying) await queue.shutdown();
});
