import type { IncomingMessage } from 'node:http';
import { type JobQueue, type JobRecord, pipeline } from 'millrace';
import { type WatchEvent, watchJobs } from 'millrace/client';
import { describe, expectTypeOf, test } from 'vitest';

const pings = pipeline('pings').phase('ping', () => true as const);
declare const queue: JobQueue<readonly [typeof pings]>;
declare const event: WatchEvent;

describe('an event stream', () => {
  test('is a body for a Response', () => {
    const make = () => new Response(queue.createEventStream({ snapshot: true, filter: { events: 'job:completed' } }));
    expectTypeOf(make).returns.toEqualTypeOf<Response>();
    const watch = () => watchJobs(queue.createEventStream());
    expectTypeOf(watch).returns.toExtend<AsyncIterable<WatchEvent>>();
  });

  test("goes on where Node's request headers say", () => {
    const make = (request: IncomingMessage) =>
      queue.createEventStream({ lastEventId: request.headers['last-event-id'] });
    expectTypeOf(make).returns.toEqualTypeOf<ReadableStream<Uint8Array>>();
  });

  test('takes only names and statuses that there are', () => {
    // @ts-expect-error no such event
    const unknownEvent = () => queue.createEventStream({ filter: { events: ['job:done'] } });
    // @ts-expect-error no such status
    const unknownStatus = () => queue.createEventStream({ filter: { statuses: 'done' } });
    expectTypeOf(unknownEvent).toBeFunction();
    expectTypeOf(unknownStatus).toBeFunction();
  });
});

describe('a watched event', () => {
  test('is narrowed by its type', () => {
    expectTypeOf(event.lastEventId).toEqualTypeOf<string>();
    if (event.type === 'snapshot') expectTypeOf(event.jobs).toEqualTypeOf<readonly JobRecord[]>();
    if (event.type === 'reset') expectTypeOf(event.reason).toEqualTypeOf<'pruned' | 'unknown'>();
    if (event.type === 'job:progress') {
      expectTypeOf(event.job).toEqualTypeOf<JobRecord>();
      expectTypeOf(event.phaseProgress).toEqualTypeOf<number>();
    }
    if (event.type === 'job:completed') {
      expectTypeOf(event.job).toEqualTypeOf<JobRecord | null>();
      expectTypeOf(event.transition.position).toEqualTypeOf<number>();
    }
    if (event.type === 'job:deleted') expectTypeOf(event.deletedJobId).toEqualTypeOf<string>();
    if (event.type === 'job:webhook:failed') expectTypeOf(event.url).toEqualTypeOf<string>();
  });
});
