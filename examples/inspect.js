/**
 * Slow jobs to look at: open the printed address, choose a job, watch its statechart, step back in time.
 * Run it with `npm run inspect`. Ctrl-C ends it in good order.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { JobQueue, pipeline, RecoverableError } from 'millrace';
import { serveInspector } from 'millrace/inspector';

const thumbnails = pipeline('thumbnails')
  .phase('download', async (_job, ctx) => {
    await sleep(1_500, undefined, { signal: ctx.signal });
    return { type: 'image/png', bytes: 48_211 };
  })
  .phase('resize', async (job, ctx) => {
    for (let row = 0; row < 640; row += 32) {
      await sleep(200, undefined, { signal: ctx.signal });
      ctx.progress((row / 640) * 100, `row ${row} of 640`);
      if (row === 320 && ctx.attempt <= (job.data.failures ?? 0)) throw new RecoverableError('The encoder is busy.');
    }
    return { width: 640, height: 480 };
  })
  .phase('upload', async (job, ctx) => {
    await sleep(2_000, undefined, { signal: ctx.signal });
    return { url: `https://cdn.example/${job.id}.png` };
  })
  .options({ retry: { maxAttempts: 4, disposition: 'fatal', backoff: { type: 'exponential', baseMs: 1_500 } } });

const reports = pipeline('reports')
  .phase('collect', async (job, ctx) => {
    await sleep(2_500, undefined, { signal: ctx.signal });
    if (job.data.broken) throw new Error('Column "total" is missing from sheet 3.');
    return { rows: 1_204 };
  })
  .phase('render', async (_job, ctx) => {
    await sleep(20_000, undefined, { signal: ctx.signal });
    return { pages: 12 };
  });

const queue = new JobQueue({ database: ':memory:', pipelines: [thumbnails, reports], concurrency: 4 });
const inspector = await serveInspector(queue, { port: Number(process.env.PORT ?? 4600) });
console.log(`Open ${inspector.url}  (Ctrl-C ends)`);

const stop = new AbortController();
process.once('SIGINT', () => stop.abort());

try {
  await queue.enqueueMany([
    { name: 'thumbnails', data: { picture: 'harbour', failures: 1 }, options: { id: 'harbour' } },
    { name: 'thumbnails', data: { picture: 'sunset' }, options: { id: 'sunset' } },
    { name: 'reports', data: { month: 'March', broken: true }, options: { id: 'march-report' } },
    { name: 'reports', data: { month: 'April' }, options: { id: 'april-report' } },
    { name: 'thumbnails', data: { picture: 'later' }, options: { id: 'put-aside', delayMs: 600_000 } },
  ]);
  await queue.pause('put-aside', 'waiting for the licence');
  await sleep(6_000, undefined, { signal: stop.signal });
  await queue.cancel('april-report', 'not needed any more');
  // From now on there is always something to look at.
  for (let n = 1; ; n++) {
    await queue.enqueue('thumbnails', { picture: `holiday ${n}`, failures: n % 3 }, { id: `holiday-${n}` });
    await sleep(4_000, undefined, { signal: stop.signal });
  }
} catch (error) {
  if (error.name !== 'AbortError') throw error;
} finally {
  console.log('Ending: running jobs are given back.');
  await inspector.close();
  await queue.shutdown({ timeoutMs: 200 }).catch((error) => {
    if (error.code !== 'shutdown_timeout') throw error;
    console.log(error.message);
  });
}
