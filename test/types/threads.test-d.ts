import { type BlobRef, type JobQueue, type JobRecord, pipeline, type Stored, type WorkerPhase, worker } from 'millrace';
import { defineHandler, type PhaseContext, type ThreadHandler } from 'millrace/threads';
import { describe, expectTypeOf, test } from 'vitest';

type Module = typeof import('./handler-modules.ts');
type NamedOnly = typeof import('./named-only.ts');
const url = new URL('./handler-modules.ts', import.meta.url);

interface Nested {
  title: string;
  parts: { bytes: ArrayBuffer }[];
  pair: readonly [1, Buffer<ArrayBuffer>];
  maybe: Uint8Array | null;
}

const flow = pipeline('flow')
  .input<{ url: string }>()
  .phase('measure', worker<Module>(url, { timeoutMs: 60_000, memoryMb: 256 }))
  .phase('draw', worker<Module, 'pixels'>(url, { export: 'pixels' }))
  .phase('nest', worker<Module, 'nested'>(url, { export: 'nested', pool: 'slow' }))
  .phase('untyped', { worker: url, export: 'pixels' })
  .phase('look', (_job, ctx) => {
    expectTypeOf(ctx.phaseResult('measure')).toEqualTypeOf<{ width: number; label: 'x' }>();
    expectTypeOf(ctx.phaseResult('draw')).toEqualTypeOf<Uint8Array<ArrayBuffer>>();
    expectTypeOf(ctx.phaseResult('nest')).toEqualTypeOf<Nested>();
    expectTypeOf(ctx.phaseResult('untyped')).toEqualTypeOf<unknown>();
    // @ts-expect-error a phase that does not exist
    ctx.phaseResult('drwa');
    return ctx.phaseResult('draw');
  });

/** Never run: only its types are looked at. */
declare const queue: JobQueue<readonly [typeof flow]>;

describe('worker()', () => {
  test("has the type of the module's export, awaited", () => {
    expectTypeOf(worker<Module>(url)).toEqualTypeOf<WorkerPhase<{ width: number; label: 'x' }>>();
    expectTypeOf(worker<Module, 'plain'>(url, { export: 'plain' })).toEqualTypeOf<WorkerPhase<'done'>>();
    expectTypeOf(worker<Module, 'given'>(url, { export: 'given' })).toEqualTypeOf<WorkerPhase<number>>();
    expectTypeOf(worker<NamedOnly, 'only'>(url, { export: 'only' })).toEqualTypeOf<WorkerPhase<number>>();
  });

  test('does not take an export that is not there', () => {
    // @ts-expect-error misspelt
    worker<Module, 'pixles'>(url, { export: 'pixles' });
    // @ts-expect-error the option and the type differ
    worker<Module, 'pixels'>(url, { export: 'nested' });
    // @ts-expect-error the option is missing
    worker<Module, 'pixels'>(url);
    // @ts-expect-error the type is missing
    worker<Module>(url, { export: 'pixels' });
    // @ts-expect-error not a function
    worker<Module, 'version'>(url, { export: 'version' });
    // @ts-expect-error there is no default export
    worker<NamedOnly>(url);
  });

  test('does not take a wrong option', () => {
    // @ts-expect-error misspelt
    worker<Module>(url, { timeout: 5 });
    // @ts-expect-error a path is no URL
    worker<Module>('./handler.js');
  });
});

describe('{ worker: URL }', () => {
  test('alone says nothing of its result', () => {
    const only = pipeline('only').phase('run', { worker: url });
    expectTypeOf<JobQueue<readonly [typeof only]>['enqueue']>().returns.resolves.toExtend<string>();
    only.phase('next', (_job, ctx) => expectTypeOf(ctx.phaseResult('run')).toEqualTypeOf<unknown>());
  });

  test('does not take a wrong option', () => {
    const work = pipeline('work');
    // @ts-expect-error misspelt
    work.phase('run', { wroker: url });
    // @ts-expect-error a path is no URL
    work.phase('run', { worker: './handler.js' });
    // @ts-expect-error not a number
    work.phase('run', { worker: url, memoryMb: '256' });
  });
});

describe('binary results', () => {
  test('are references in a record, wherever they are', () => {
    queue.on('job:completed', ({ job }) => {
      expectTypeOf(job.phaseResults.draw).toEqualTypeOf<BlobRef | undefined>();
      expectTypeOf(job.phaseResults.measure).toEqualTypeOf<{ width: number; label: 'x' } | undefined>();
      const nested = job.phaseResults.nest;
      expectTypeOf(nested?.title).toEqualTypeOf<string | undefined>();
      expectTypeOf(nested?.parts).toEqualTypeOf<{ bytes: BlobRef }[] | undefined>();
      expectTypeOf(nested?.pair).toEqualTypeOf<readonly [1, BlobRef] | undefined>();
      expectTypeOf(nested?.maybe).toEqualTypeOf<BlobRef | null | undefined>();
      expectTypeOf(job.phaseResults.untyped).toEqualTypeOf<unknown>();
    });
  });

  test('are bytes in result()', async () => {
    const id = await queue.enqueue('flow', { url: '' });
    expectTypeOf(await queue.result(id)).toEqualTypeOf<Uint8Array<ArrayBuffer>>();
    // @ts-expect-error bytes are no reference
    (await queue.result(id)).blob;
    expectTypeOf(await queue.phaseResult(id, 'draw')).toEqualTypeOf<unknown>();
  });

  test('of every kind are stored as references, and nothing else is', () => {
    expectTypeOf<Stored<Buffer>>().toEqualTypeOf<BlobRef>();
    expectTypeOf<Stored<ArrayBuffer>>().toEqualTypeOf<BlobRef>();
    expectTypeOf<Stored<SharedArrayBuffer>>().toEqualTypeOf<BlobRef>();
    expectTypeOf<Stored<{ a: string; b: [number, null] }>>().toEqualTypeOf<{ a: string; b: [number, null] }>();
    expectTypeOf<Stored<unknown>>().toEqualTypeOf<unknown>();
    expectTypeOf<Stored<undefined>>().toEqualTypeOf<undefined>();
  });
});

describe('defineHandler', () => {
  test('infers everything from an annotated job', () => {
    const handler = defineHandler((job: JobRecord<string, { n: number }>) => job.data.n);
    expectTypeOf(handler).toExtend<ThreadHandler<{ n: number }, number>>();
  });

  test('infers the result when it is called twice', () => {
    const handler = defineHandler<{ n: number }>()(async (job, ctx) => {
      expectTypeOf(job.data).toEqualTypeOf<{ n: number }>();
      expectTypeOf(ctx).toExtend<PhaseContext>();
      return { n: job.data.n };
    });
    expectTypeOf(handler).toEqualTypeOf<ThreadHandler<{ n: number }, { n: number }>>();
  });

  test('takes the result as given, and leaves it unknown if it is not', () => {
    expectTypeOf<Module['given']>().toEqualTypeOf<ThreadHandler<{ url: string }, number>>();
    expectTypeOf<Module['vague']>().toEqualTypeOf<ThreadHandler<{ url: string }, unknown>>();
    // @ts-expect-error not the result that was announced
    defineHandler<{ n: number }, string>((job) => job.data.n);
    // @ts-expect-error there is no such field
    defineHandler<{ n: number }>((job) => job.data.m);
  });

  test('knows earlier results if they are named', () => {
    defineHandler<{ n: number }, number, { readonly first: number }>((_job, ctx) => {
      // @ts-expect-error there is no such phase
      ctx.phaseResult('frist');
      return ctx.phaseResult('first');
    });
  });
});
