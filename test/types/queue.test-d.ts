import type { StandardSchemaV1 } from '@standard-schema/spec';
import { type JobId, JobQueue, type JobRecord, type JobStatus, pipeline } from 'millrace';
import { describe, expectTypeOf, test } from 'vitest';
import { z } from 'zod';

interface Image {
  readonly width: number;
  readonly height: number;
}

const thumbnails = pipeline('thumbnails')
  .input<{ url: string }>()
  .phase('download', async (job, ctx) => {
    expectTypeOf(job.data).toEqualTypeOf<{ url: string }>();
    expectTypeOf(ctx.signal).toEqualTypeOf<AbortSignal>();
    return `bytes of ${job.data.url}`;
  })
  .phase(
    'resize',
    (_job, ctx): Image => {
      expectTypeOf(ctx.phaseResult('download')).toEqualTypeOf<string>();
      return { width: ctx.phaseResult('download').length, height: 1 };
    },
    { timeoutMs: 60_000 },
  )
  .phase('upload', async (job, ctx) => {
    expectTypeOf(ctx.phaseResult('resize')).toEqualTypeOf<Image>();
    expectTypeOf(ctx.phaseResults().download).toEqualTypeOf<string>();
    return { from: job.data.url, pixels: ctx.phaseResult('resize').width };
  })
  .options({
    retry: {
      maxAttempts: 5,
      backoff: { type: 'exponential', baseMs: 500 },
      classify: (error) => (error.code === 'ECONNRESET' ? 'recoverable' : 'fatal'),
    },
  });

const mails = pipeline('mails')
  .input(
    z.object({ to: z.string(), at: z.string().transform((text) => new Date(text)), copies: z.number().default(1) }),
  )
  .phase('send', (job) => {
    expectTypeOf(job.data).toEqualTypeOf<{ to: string; at: Date; copies: number }>();
    return job.data.copies;
  });

const pings = pipeline('pings').phase('ping', () => true as const);

/** Never run: only its types are looked at. */
declare const queue: JobQueue<readonly [typeof thumbnails, typeof mails, typeof pings]>;

describe('the declaration of a pipeline', () => {
  test('gives a queue its types without annotations', () => {
    const make = () => new JobQueue({ database: './jobs.db', pipelines: [thumbnails, mails, pings] });
    expectTypeOf(make).returns.toEqualTypeOf(queue);
  });

  test('knows the phases before, and no others', () => {
    pipeline('work')
      .phase('first', () => 1)
      .phase('second', (_job, ctx) => {
        expectTypeOf(ctx.phaseResult).parameter(0).toEqualTypeOf<'first'>();
        // @ts-expect-error a phase that does not exist
        ctx.phaseResult('frist');
        // @ts-expect-error the phase itself
        ctx.phaseResult('second');
        // @ts-expect-error a phase still to come
        ctx.phaseResult('third');
        // @ts-expect-error the same through phaseResults
        return ctx.phaseResults().frist;
      })
      .phase('third', () => null);
  });

  test('has no earlier results in its first phase', () => {
    pipeline('work').phase('first', (_job, ctx) => {
      // @ts-expect-error nothing has run yet
      return ctx.phaseResult('first');
    });
  });

  test('hands on the awaited type of a result', () => {
    pipeline('work')
      .phase('first', async () => 5)
      .phase('second', (_job, ctx) => {
        // @ts-expect-error a number is no string
        ctx.phaseResult('first').toUpperCase();
        return ctx.phaseResult('first').toFixed(1);
      })
      .phase('third', (_job, ctx) => expectTypeOf(ctx.phaseResult('second')).toEqualTypeOf<string>());
  });

  test('takes the data as declared', () => {
    pipeline('work')
      .input<{ n: number }>()
      .phase('first', (job) => {
        // @ts-expect-error there is no such field
        job.data.m;
        // @ts-expect-error records are read-only
        job.status = 'completed';
        return job.data.n;
      });
  });

  test('does not take a wrong option', () => {
    const work = pipeline('work');
    // @ts-expect-error misspelt
    work.options({ concurency: 5 });
    // @ts-expect-error not a backoff
    work.options({ retry: { backoff: { type: 'cubic', baseMs: 5 } } });
    // @ts-expect-error a backoff needs a base
    work.options({ retry: { backoff: { type: 'fixed' } } });
    // @ts-expect-error not a disposition
    work.options({ retry: { classify: () => 'maybe' } });
    // @ts-expect-error misspelt
    work.phase('first', () => 1, { timeout: 5 });
    // @ts-expect-error not a handler
    work.phase('first', 'handler.js');
    // @ts-expect-error not a schema
    work.input({ n: 'number' });
  });
});

describe('the configuration of a queue', () => {
  test('does not take a wrong option', () => {
    // @ts-expect-error misspelt
    () => new JobQueue({ database: ':memory:', pipelines: [pings], concurency: 5 });
    // @ts-expect-error not a durability
    () => new JobQueue({ database: ':memory:', pipelines: [pings], durability: 'full' });
    // @ts-expect-error a queue needs a database
    () => new JobQueue({ pipelines: [pings] });
    // @ts-expect-error not a pipeline
    () => new JobQueue({ database: ':memory:', pipelines: ['pings'] });
  });
});

describe('enqueue', () => {
  test('takes the names there are', () => {
    expectTypeOf(queue.enqueue).parameter(0).toEqualTypeOf<'thumbnails' | 'mails' | 'pings'>();
    // @ts-expect-error misspelt
    queue.enqueue('thumbnail', { url: '' });
  });

  test('takes the data of the named pipeline', () => {
    queue.enqueue('thumbnails', { url: '' }, { priority: 5 });
    // @ts-expect-error a number is no URL
    queue.enqueue('thumbnails', { url: 5 });
    // @ts-expect-error misspelt
    queue.enqueue('thumbnails', { uri: '' });
    // @ts-expect-error missing
    queue.enqueue('thumbnails');
    // @ts-expect-error the data of another pipeline
    queue.enqueue('thumbnails', { to: '', at: '' });
  });

  test('takes the input of a schema, not its output', () => {
    queue.enqueue('mails', { to: '', at: '2030-01-01' });
    queue.enqueue('mails', { to: '', at: '2030-01-01', copies: 2 });
    // @ts-expect-error a Date is what comes out
    queue.enqueue('mails', { to: '', at: new Date() });
  });

  test('takes the options there are', () => {
    queue.enqueue('pings', null, { id: 'x', delayMs: 5, expiresAt: new Date(), maxAttempts: 1, timeoutMs: 5 });
    // @ts-expect-error misspelt
    queue.enqueue('pings', null, { priorty: 5 });
    // @ts-expect-error a word is no priority
    queue.enqueue('pings', null, { priority: 'high' });
  });
});

describe('enqueueMany', () => {
  test('takes entries of several pipelines', () => {
    queue.enqueueMany([
      { name: 'thumbnails', data: { url: '' } },
      { name: 'mails', data: { to: '', at: '' }, options: { priority: 1 } },
    ]);
    expectTypeOf(queue.enqueueMany).returns.resolves.toEqualTypeOf<JobId[]>();
  });

  test('checks each entry against its own pipeline', () => {
    const good = { name: 'thumbnails', data: { url: '' } } as const;
    // @ts-expect-error misspelt name
    queue.enqueueMany([good, { name: 'thumbnail', data: { url: '' } }]);
    // @ts-expect-error the data of another pipeline
    queue.enqueueMany([good, { name: 'mails', data: { url: '' } }]);
    // @ts-expect-error misspelt key
    queue.enqueueMany([good, { name: 'thumbnails', data: { url: '' }, option: {} }]);
    // @ts-expect-error misspelt option
    queue.enqueueMany([good, { name: 'thumbnails', data: { url: '' }, options: { priorty: 5 } }]);
  });
});

describe('result', () => {
  test("has the type of the last phase's result", async () => {
    const id = await queue.enqueue('thumbnails', { url: '' });
    expectTypeOf(id).toExtend<string>();
    expectTypeOf(await queue.result(id)).toEqualTypeOf<{ from: string; pixels: number }>();
    expectTypeOf(await queue.result(await queue.enqueue('mails', { to: '', at: '' }))).toEqualTypeOf<number>();
    expectTypeOf(await queue.result(await queue.enqueue('pings', null))).toEqualTypeOf<true>();
    // @ts-expect-error there is no such field
    (await queue.result(id)).to;
  });

  test('is unknown for an id from elsewhere, unless its type is given', async () => {
    const id: string = '…';
    expectTypeOf(await queue.result(id)).toEqualTypeOf<unknown>();
    expectTypeOf(await queue.result<number>(id)).toEqualTypeOf<number>();
  });
});

describe('events', () => {
  test('narrow by the pipeline of their job', () => {
    queue.on('job:completed', ({ job, transition }) => {
      expectTypeOf(job.pipeline).toEqualTypeOf<'thumbnails' | 'mails' | 'pings'>();
      expectTypeOf(job.status).toEqualTypeOf<JobStatus>();
      expectTypeOf(transition.from).toEqualTypeOf<string | null>();
      // @ts-expect-error which pipeline?
      job.data.url;
      if (job.pipeline === 'thumbnails') {
        expectTypeOf(job.data).toEqualTypeOf<{ url: string }>();
        expectTypeOf(job.phaseResults.upload).toEqualTypeOf<{ from: string; pixels: number } | undefined>();
        expectTypeOf(job.phaseResults.resize).toEqualTypeOf<Image | undefined>();
        // @ts-expect-error a phase of another pipeline
        job.phaseResults.send;
      }
      if (job.pipeline === 'mails') {
        expectTypeOf(job.data.at).toEqualTypeOf<string>();
        expectTypeOf(job.phaseResults.send).toEqualTypeOf<number | undefined>();
      }
    });
  });

  test('have names that are known', () => {
    // @ts-expect-error misspelt
    queue.on('job:complete', () => {});
    // @ts-expect-error misspelt
    queue.once('completed', () => {});
    expectTypeOf(queue.on).returns.toEqualTypeOf<() => void>();
  });

  test('carry what belongs to them', () => {
    queue.on('job:progress', (event) => {
      expectTypeOf(event.phaseProgress).toEqualTypeOf<number>();
      // @ts-expect-error progress is no transition
      event.transition;
    });
    queue.once('job:deleted', ({ deletedJobId }) => expectTypeOf(deletedJobId).toEqualTypeOf<string>());
    queue.on('error', ({ error }) => expectTypeOf(error).toEqualTypeOf<unknown>());
  });
});

describe('reading', () => {
  test('getJob and the verbs narrow by pipeline', async () => {
    const job = await queue.getJob('x');
    expectTypeOf(job).extract<undefined>().toEqualTypeOf<undefined>();
    if (job?.pipeline === 'thumbnails') expectTypeOf(job.data.url).toEqualTypeOf<string>();
    const cancelled = await queue.cancel('x', 'because');
    if (cancelled.pipeline === 'pings') expectTypeOf(cancelled.phaseResults.ping).toEqualTypeOf<true | undefined>();
    // @ts-expect-error a reason is a string
    queue.cancel('x', { because: 'so' });
  });

  test('listJobs takes the filters there are', async () => {
    const { jobs, cursor } = await queue.listJobs({ status: ['active', 'pending'], pipeline: 'mails', limit: 5 });
    expectTypeOf(cursor).toEqualTypeOf<string | null>();
    for (const job of jobs) expectTypeOf(job).toExtend<JobRecord>();
    // @ts-expect-error not a status
    queue.listJobs({ status: 'done' });
    // @ts-expect-error misspelt
    queue.listJobs({ state: 'active' });
  });

  test('a queue of known pipelines can be handed to whoever takes any queue for reading', () => {
    expectTypeOf(queue).toExtend<Pick<JobQueue, 'getJob' | 'listJobs' | 'stats' | 'transitions' | 'cancel'>>();
  });
});

describe('a schema made by hand', () => {
  test('gives its input to enqueue and its output to the handler', () => {
    const halves = {} as StandardSchemaV1<{ n: number }, { half: number }>;
    const made = pipeline('halves')
      .input(halves)
      .phase('only', (job) => {
        expectTypeOf(job.data).toEqualTypeOf<{ half: number }>();
        return job.data.half;
      });
    const make = () => new JobQueue({ database: ':memory:', pipelines: [made] });
    expectTypeOf<ReturnType<typeof make>['enqueue']>().parameter(1).toEqualTypeOf<{ n: number }>();
  });
});
