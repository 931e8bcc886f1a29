import { pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { fakeClock } from '../support/fake-clock.ts';
import { aborted, gate, nextEvent, openQueue } from '../support/open-queue.ts';

test('a phase past its timeoutMs is stopped and the attempt fails with code timeout', async () => {
  const reason = gate<string | undefined>();
  const slow = pipeline('slow')
    .phase('run', async (_job, ctx) => reason.open((await aborted(ctx.signal)).code), { timeoutMs: 20 })
    .options({ retry: { maxAttempts: 1 } });
  const queue = openQueue({ pipelines: [slow] });
  const id = await queue.enqueue('slow', null);
  await expect(queue.result(id)).rejects.toThrow('its timeoutMs of 20 ms');
  expect(await reason.opened).toBe('timeout');
  expect((await queue.getJob(id))?.error).toMatchObject({ code: 'timeout', phase: 'run' });
});

test('a timeout is recoverable while attempts are left', async () => {
  const slow = pipeline('slow')
    .phase('run', async (_job, ctx) => (ctx.attempt === 1 ? aborted(ctx.signal).then(() => 'late') : 'in time'), {
      timeoutMs: 20,
    })
    .options({ retry: { maxAttempts: 2, backoff: { type: 'fixed', baseMs: 0 }, disposition: 'fatal' } });
  const queue = openQueue({ pipelines: [slow] });
  expect(await queue.result(await queue.enqueue('slow', null))).toBe('in time');
});

test("the job's timeoutMs counts from the attempt's first phase over all of them", async () => {
  const { clock, advance } = fakeClock();
  const steps = pipeline('steps')
    .phase('first', async () => void advance(60))
    .phase('second', async (_job, ctx) => {
      advance(50);
      await aborted(ctx.signal);
    })
    .options({ timeoutMs: 100, retry: { maxAttempts: 1 } });
  const queue = openQueue({ pipelines: [steps], clock });
  const id = await queue.enqueue('steps', null);
  await expect(queue.result(id)).rejects.toThrow("the job's timeoutMs of 100 ms");
});

test('a job that was never started is cancelled when it expires, and a started one is not', async () => {
  const { clock, advance } = fakeClock();
  const hold = gate();
  const busy = pipeline('busy').phase('run', () => hold.opened);
  const queue = openQueue({ pipelines: [busy], clock, concurrency: 1 });
  const started = nextEvent(queue, 'job:started');
  const running = await queue.enqueue('busy', null, { expiresAt: clock.now() + 1_000 });
  await started;
  const waiting = await queue.enqueue('busy', null, { expiresAt: clock.now() + 1_000 });
  const cancelled = nextEvent(queue, 'job:cancelled');
  advance(1_001);
  expect((await cancelled).job).toMatchObject({ id: waiting, reason: 'expired' });
  hold.open();
  await queue.result(running);
});

test('a delayed job starts when it is due, not before, and one due in years does not start now', async () => {
  const { clock, advance } = fakeClock();
  const ran: string[] = [];
  const delayed = pipeline('delayed')
    .input<string>()
    .phase('run', (job) => void ran.push(job.data));
  const queue = openQueue({ pipelines: [delayed], clock });
  const years = 50 * 365 * 24 * 3_600_000;
  await queue.enqueue('delayed', 'in years', { delayMs: years });
  const soon = await queue.enqueue('delayed', 'soon', { delayMs: 5_000 });
  advance(4_999);
  await queue.result(await queue.enqueue('delayed', 'now'));
  expect(ran).toEqual(['now']);
  advance(1);
  await queue.result(soon);
  expect(ran).toEqual(['now', 'soon']);
});

test('a real timer for a time years away does not ring', async () => {
  const far = pipeline('far').phase('run', () => 'ran');
  const queue = openQueue({ pipelines: [far] });
  const id = await queue.enqueue('far', null, { scheduledAt: new Date('2100-01-01') });
  await queue.result(await queue.enqueue('far', null));
  expect((await queue.getJob(id))?.status).toBe('pending');
});
