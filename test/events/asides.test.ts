import { pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { gate, nextEvent, openQueue } from '../support/open-queue.ts';
import { readStream } from '../support/sse.ts';

test('progress of today is told after the entries a client has missed, not before', async () => {
  const doors = { begin: gate(), end: gate() };
  const work = pipeline('work').phase('run', async (_job, ctx) => {
    await doors.begin.opened;
    ctx.progress(50, 'half');
    await doors.end.opened;
  });
  const queue = openQueue({ pipelines: [work] });
  const started = nextEvent(queue, 'job:started');
  await queue.enqueue('work', null);
  await started;
  // Nobody has listened until now; the client has nothing yet.
  const stream = queue.createEventStream({ lastEventId: 0 });
  const progress = nextEvent(queue, 'job:progress');
  doors.begin.open();
  await progress;
  const messages = await readStream(stream).until(({ event }) => event === 'job:progress');
  expect(messages.map(({ event }) => event)).toEqual(['ping', 'job:enqueued', 'job:started', 'job:progress']);
  doors.end.open();
});
