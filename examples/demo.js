/**
 * Six jobs go through a pipeline of three phases; some of them have a hard time.
 * Run it with `npm run demo`. Ctrl-C ends it in good order.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobQueue, pipeline, RecoverableError } from 'millrace';

// A pipeline is a name and phases in order. Every sleep listens to ctx.signal, so a cancel or a timeout ends it at once.
const reports = pipeline('reports')
  .phase(
    'fetch',
    async (job, ctx) => {
      await sleep(job.data.slow ? 5_000 : 200, undefined, { signal: ctx.signal });
      if (ctx.attempt <= (job.data.failures ?? 0)) {
        throw new RecoverableError(`The source is away (attempt ${ctx.attempt}).`);
      }
      return { rows: job.data.rows };
    },
    { timeoutMs: 1_000 },
  )
  .phase('crunch', async (_job, ctx) => {
    const { rows } = ctx.phaseResult('fetch');
    let sum = 0;
    for (let row = 1; row <= rows; row++) {
      await sleep(120, undefined, { signal: ctx.signal });
      sum += row;
      ctx.progress((row / rows) * 100, `row ${row} of ${rows}`);
    }
    return { sum };
  })
  .phase('store', async (_job, ctx) => {
    await sleep(150, undefined, { signal: ctx.signal });
    return { stored: ctx.phaseResult('crunch').sum };
  })
  // Three attempts, 300 ms and then 600 ms apart. A timeout or a RecoverableError is tried again; any other error is fatal.
  .options({ retry: { maxAttempts: 3, disposition: 'fatal', backoff: { type: 'exponential', baseMs: 300 } } });

const folder = await mkdtemp(join(tmpdir(), 'millrace-demo-'));
const queue = new JobQueue({ database: join(folder, 'jobs.db'), pipelines: [reports] });

// Ctrl-C: no new jobs are claimed, running ones have a moment to stop and are given back.
let interrupted = false;
process.once('SIGINT', () => {
  interrupted = true;
  say('queue', 'Ctrl-C: shutting down');
  end().then(() => process.exit(130));
});

// Listeners are told after the commit: what is printed here is in the database already.
queue.on('job:enqueued', ({ job }) => {
  const wait = job.scheduledAt - job.createdAt;
  say(job.id, wait > 0 ? `enqueued, due in ${wait} ms` : 'enqueued');
});
queue.on('job:started', ({ job }) => say(job.id, `started, attempt ${job.attempt} of ${job.maxAttempts}`));
queue.on('job:progress', ({ job, message }) => say(job.id, `${bar(job.progress)} ${message}`));
queue.on('job:phase:completed', ({ job, transition }) => say(job.id, `${bar(job.progress)} ${transition.phase} done`));
queue.on('job:retrying', ({ job, at }) => say(job.id, `${job.error.message} Again in ${job.scheduledAt - at} ms.`));
queue.on('job:completed', ({ job }) => say(job.id, `completed: ${JSON.stringify(job.phaseResults.store)}`));
queue.on('job:failed', ({ job }) => say(job.id, `failed: ${job.error.message}`));
queue.on('job:cancelled', ({ job }) => say(job.id, `cancelled: ${job.reason}`));

try {
  await demo();
} catch (error) {
  // After Ctrl-C the calls still waiting are told that the queue is shutting down.
  if (!interrupted) throw error;
} finally {
  await end();
}

async function demo() {
  // One call, one commit: all of them are stored, or none.
  const ids = await queue.enqueueMany([
    { name: 'reports', data: { rows: 3 }, options: { id: 'plain' } },
    { name: 'reports', data: { rows: 4 }, options: { id: 'urgent', priority: 10 } },
    { name: 'reports', data: { rows: 2, failures: 2 }, options: { id: 'flaky' } },
    { name: 'reports', data: { rows: 50 }, options: { id: 'unwanted' } },
    { name: 'reports', data: { rows: 2 }, options: { id: 'later', delayMs: 1_500 } },
    { name: 'reports', data: { rows: 1, slow: true }, options: { id: 'stuck', maxAttempts: 1 } },
  ]);

  await sleep(900);
  await queue.cancel('unwanted', 'somebody pressed the button');

  // `result` rejects for jobs that fail or are cancelled; here the end of every job is all we wait for.
  await Promise.allSettled(ids.map((id) => queue.result(id)));

  const jobs = await Promise.all(ids.map((id) => queue.getJob(id)));
  console.log('\nWhat became of them:');
  console.table(
    jobs.map((job) => ({
      id: job.id,
      status: job.status,
      attempts: job.attempt,
      phases: job.phases.map((phase) => `${phase.name}:${phase.status}`).join(' '),
      'took (ms)': job.finishedAt - job.createdAt,
    })),
  );

  console.log('The log of "flaky", as stored:');
  for (const entry of await queue.transitions('flaky')) {
    const path = `${entry.from ?? '(nothing)'} -> ${entry.to}`;
    console.log(`  ${entry.seq}  ${entry.event.padEnd(14)} ${path.padEnd(34)} attempt ${entry.attempt}`);
  }
}

/** Shuts the queue down and removes the database. May be called twice. */
async function end() {
  try {
    await queue.shutdown({ timeoutMs: 200 });
  } catch (error) {
    if (error.code !== 'shutdown_timeout') throw error;
    console.log(error.message);
  }
  await rm(folder, { recursive: true, force: true });
}

function say(id, text) {
  console.log(`${id.padStart(9)}  ${text}`);
}

function bar(percent) {
  const filled = Math.round(percent / 5);
  return `${'#'.repeat(filled)}${'.'.repeat(20 - filled)} ${String(percent).padStart(3)}%`;
}
