import {
  FatalError,
  JobFailedError,
  type JobRecord,
  pipeline,
  RecoverableError,
  RetryAfter,
  RetryStrategy,
  StoreUnavailableError,
} from 'millrace';
import { expect, test } from 'vitest';
import { nextEvent, openQueue } from '../support/open-queue.ts';

const backoff = { type: 'fixed', baseMs: 1 } as const;

test('a recoverable failure is tried again from the failed phase, and finished phases are not repeated', async () => {
  const runs: string[] = [];
  const flaky = pipeline('flaky')
    .phase('first', () => {
      runs.push('first');
      return 'kept';
    })
    .phase('second', (_job, ctx) => {
      runs.push(`second ${ctx.attempt}`);
      if (ctx.attempt < 3) throw new RecoverableError('not yet');
      return ctx.phaseResult('first');
    })
    .options({ retry: { maxAttempts: 3, backoff, disposition: 'fatal' } });
  const queue = openQueue({ pipelines: [flaky] });
  const retrying: (string | undefined)[] = [];
  queue.on('job:retrying', ({ job }) => retrying.push(job.error?.message));
  const id = await queue.enqueue('flaky', null);
  expect(await queue.result(id)).toBe('kept');
  expect(runs).toEqual(['first', 'second 1', 'second 2', 'second 3']);
  expect(retrying).toEqual(['not yet', 'not yet']);
});

test('an unclassified error is fatal at once', async () => {
  const broken = pipeline('broken').phase('run', () => {
    throw Object.assign(new TypeError('no'), { code: 'E_NO', detail: { why: 'because' } });
  });
  const queue = openQueue({ pipelines: [broken] });
  const id = await queue.enqueue('broken', null);
  await expect(queue.result(id)).rejects.toBeInstanceOf(JobFailedError);
  const job = await queue.getJob(id);
  expect(job).toMatchObject({ status: 'failed', attempt: 1, phases: [{ status: 'failed', error: 'no' }] });
  expect(job?.error).toMatchObject({
    name: 'TypeError',
    message: 'no',
    code: 'E_NO',
    phase: 'run',
    data: { detail: { why: 'because' } },
  });
});

test('classify decides for errors that do not say it themselves, and attempts run out', async () => {
  const seen: string[] = [];
  const classified = pipeline('classified')
    .input<'reset' | 'fatal' | 'other'>()
    .phase('run', (job) => {
      if (job.data === 'fatal') throw new FatalError('stop');
      throw Object.assign(new Error(job.data), { code: job.data === 'reset' ? 'ECONNRESET' : 'EOTHER' });
    })
    .options({
      retry: {
        maxAttempts: 3,
        backoff,
        classify: (error) => {
          seen.push(error.message);
          return error.code === 'ECONNRESET' ? 'recoverable' : 'fatal';
        },
      },
    });
  const queue = openQueue({ pipelines: [classified] });
  const attempts: Record<string, number | undefined> = {};
  for (const data of ['reset', 'fatal', 'other'] as const) {
    const id = await queue.enqueue('classified', data);
    await queue.result(id).catch(() => {});
    attempts[data] = (await queue.getJob(id))?.attempt;
  }
  expect(attempts).toEqual({ reset: 3, fatal: 1, other: 1 });
  expect(seen).toEqual(['reset', 'reset', 'reset', 'other']);
});

test('RetryAfter chooses its own wait, which is stored', async () => {
  const later = pipeline('later').phase('run', (_job, ctx) => {
    if (ctx.attempt === 1) throw new RetryAfter(20);
    return 'done';
  });
  const queue = openQueue({ pipelines: [later] });
  const retrying = nextEvent(queue, 'job:retrying');
  const id = await queue.enqueue('later', null);
  const { job, at } = await retrying;
  expect(job.scheduledAt - at).toBe(20);
  expect(await queue.result(id)).toBe('done');
});

test('a failed job is retried by hand with a fresh set of attempts and its results', async () => {
  let broken = true;
  let firstRuns = 0;
  const mended = pipeline('mended')
    .phase('first', () => ++firstRuns)
    .phase('second', () => {
      if (broken) throw new Error('broken');
      return 'mended';
    });
  const queue = openQueue({ pipelines: [mended] });
  const id = await queue.enqueue('mended', null);
  await queue.result(id).catch(() => {});
  broken = false;
  const retried = await queue.retry(id);
  expect(retried).toMatchObject({ status: 'pending', attempt: 0, error: null, phaseResults: { first: 1 } });
  expect(await queue.result(id)).toBe('mended');
  expect(firstRuns).toBe(1);
});

test('a classify that throws fails the job and says so', async () => {
  const odd = pipeline('odd')
    .phase('run', () => {
      throw new Error('original');
    })
    .options({
      retry: {
        maxAttempts: 5,
        classify: () => {
          throw new Error('classify is broken');
        },
      },
    });
  const queue = openQueue({ pipelines: [odd] });
  const id = await queue.enqueue('odd', null);
  await queue.result(id).catch(() => {});
  const job = await queue.getJob(id);
  expect(job?.error?.message).toContain('classify is broken');
  expect(job?.error?.cause?.message).toBe('original');
});

test('a classify that answers something else fails the job and says so', async () => {
  const wrong = pipeline('wrong')
    .phase('run', () => {
      throw new Error('first');
    })
    .options({ retry: { maxAttempts: 3, classify: (async () => 'recoverable') as never } });
  const queue = openQueue({ pipelines: [wrong] });
  await expect(queue.result(await queue.enqueue('wrong', null))).rejects.toThrow('it must not be async');
});

test('a store that could not be read is worth another attempt', () => {
  const error = new StoreUnavailableError('store_busy', 'The database is locked.');
  expect(new RetryStrategy({ disposition: 'fatal' }).decide(error, {} as JobRecord).disposition).toBe('recoverable');
});
