/** The log, judged once more, says what the job was: step by step, and at the end exactly what its record says. */
import { type JobRecord, pipeline, RecoverableError } from 'millrace';
import { expect, it } from 'vitest';
import { replay } from '../../src/actors/replay.ts';
import { gate, nextEvent, openQueue } from '../support/open-queue.ts';

const TOLD_BY_LISTENERS = [
  'job:enqueued',
  'job:started',
  'job:phase:completed',
  'job:retrying',
  'job:completed',
  'job:failed',
  'job:cancelled',
  'job:paused',
  'job:resumed',
] as const;

const hard = pipeline('hard')
  .phase('first', () => ({ one: 1 }))
  .phase('second', (_job, ctx) => {
    if (ctx.attempt < 3) throw new RecoverableError(`attempt ${ctx.attempt}`);
    return 2;
  })
  .phase('third', () => undefined)
  .options({ retry: { maxAttempts: 3, disposition: 'fatal', backoff: { type: 'fixed', baseMs: 1 } } });

it('tells the past of a job with a hard life as listeners heard it', async () => {
  const queue = openQueue({ pipelines: [hard] });
  const heard = new Map<number, JobRecord>();
  for (const name of TOLD_BY_LISTENERS) queue.on(name, ({ job }) => void heard.set(job.seq, job));
  const id = await queue.enqueue('hard', null, { delayMs: 20 });
  await queue.pause(id);
  await queue.resume(id);
  await queue.result(id);
  const job = (await queue.getJob(id)) as JobRecord;
  const log = await queue.transitions(id);
  const past = replay(job, log);
  expect(log.map(({ event }) => event)).toContain('pause');
  expect(past).toHaveLength(log.length);
  for (const [seq, known] of past.entries()) {
    const { results, ...facts } = known ?? { results: [] };
    expect(facts).not.toEqual({});
    expect(heard.get(seq)).toMatchObject(facts);
    expect(Object.keys(heard.get(seq)?.phaseResults ?? {})).toEqual(results);
  }
  expect(job).toMatchObject({ status: 'completed', attempt: past.at(-1)?.attempt, error: null });
});

it('tells of cancelling, and of completing from outside', async () => {
  const started = gate();
  const held = pipeline('held')
    .phase('wait', (_job, ctx) => {
      started.open();
      return new Promise((_, reject) => ctx.signal.addEventListener('abort', () => reject(ctx.signal.reason)));
    })
    .phase('never', () => 1);
  const queue = openQueue({ pipelines: [held], concurrency: 1 });
  const cancelled = await queue.enqueue('held', null);
  const outside = await queue.enqueue('held', null, { delayMs: 60_000 });
  await started.opened;
  const told = nextEvent(queue, 'job:cancelled');
  await queue.cancel(cancelled, 'enough');
  await told;
  await queue.complete(outside, { by: 'hand' });
  for (const [id, statuses, phases] of [
    [cancelled, ['pending', 'active', 'cancelled'], ['cancelled', 'cancelled']],
    [outside, ['pending', 'completed'], ['skipped', 'skipped']],
  ] as const) {
    const past = replay((await queue.getJob(id)) as JobRecord, await queue.transitions(id));
    expect(past.map((known) => known?.status)).toEqual(statuses);
    expect(past.at(-1)?.phases.map(({ status }) => status)).toEqual(phases);
  }
});

it('tells nothing of a log that does not begin at the birth, or that other phases wrote', async () => {
  const queue = openQueue({ pipelines: [hard] });
  const id = await queue.enqueue('hard', null);
  await queue.result(id);
  const job = (await queue.getJob(id)) as JobRecord;
  const log = await queue.transitions(id);
  expect(replay(job, log.slice(1)).every((known) => known === null)).toBe(true);
  const other = { ...job, phases: job.phases.map((phase) => ({ ...phase, name: `${phase.name}x` })) };
  const past = replay(other, log);
  expect(past[0]).not.toBeNull();
  expect(past.slice(1).every((known) => known === null)).toBe(true);
});
