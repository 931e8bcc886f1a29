// A process whose jobs fail once and then complete, so that each owes two webhooks, and which sends what is owed.
// argv: database, receiver's URL, limit of an attempt in milliseconds
import { JobQueue, pipeline, RecoverableError } from 'millrace';

const [database, url, timeoutMs] = process.argv.slice(2);

const work = pipeline('work')
  .phase('run', (job, ctx) => {
    if (ctx.attempt === 1) throw new RecoverableError('not yet');
    return job.id;
  })
  .options({ retry: { maxAttempts: 50, backoff: { type: 'fixed', baseMs: 0 }, disposition: 'fatal' } });

new JobQueue({
  database,
  pipelines: [work],
  concurrency: 8,
  webhooks: {
    url,
    secret: 's3cret',
    allowPrivateNetwork: true,
    timeoutMs: Number(timeoutMs),
    maxAttempts: 100,
    backoff: { type: 'fixed', baseMs: 10 },
    concurrencyPerEndpoint: 16,
  },
});
