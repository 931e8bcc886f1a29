import { type JobRecord, pipeline, RecoverableError } from 'millrace';
import { expect, onTestFinished, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';

const work = pipeline('work').phase('run', () => 'done');

/** What Node warns of while the test runs. */
function warnings(): string[] {
  const heard: string[] = [];
  const note = ({ message }: Error) => heard.push(message);
  process.on('warning', note);
  onTestFinished(() => void process.off('warning', note));
  return heard;
}

test.each<[string, () => unknown, string]>([
  ['an error', () => new Error('oh'), 'oh'],
  ['a string', () => 'oh', 'oh'],
  ['an object without a prototype', () => Object.create(null), '{}'],
  ['an object that cannot be a string', () => ({ toJSON: null, toString: null, a: 1n }), '[object Object]'],
  ['a revoked proxy', revoked, '(it cannot be shown)'],
  ['nothing', () => undefined, 'undefined'],
])('a listener that throws %s is a warning, and nothing else suffers', async (_, thrown, shown) => {
  const heard = warnings();
  const queue = openQueue({ pipelines: [work] });
  queue.on('job:started', () => {
    throw thrown();
  });
  queue.on('job:started', async () => {
    throw thrown();
  });
  const others: string[] = [];
  queue.on('job:started', ({ job }) => others.push(job.id));
  const id = await queue.enqueue('work', null);
  expect(await queue.result(id)).toBe('done');
  expect(others).toEqual([id]);
  const text = `a listener of "job:started" failed: ${shown}`;
  await expect.poll(() => heard.filter((message) => message.startsWith('a listener'))).toEqual([text, text]);
});

test('what a listener writes into the record it is told decides nothing that is stored', async () => {
  const twice = pipeline('twice')
    .phase('stumble', (_job, ctx) => {
      if (ctx.attempt === 1) throw new RecoverableError('first');
    })
    .phase('walk', () => 'there')
    .options({ retry: { maxAttempts: 2, backoff: { type: 'fixed', baseMs: 1 }, disposition: 'recoverable' } });
  const queue = openQueue({ pipelines: [twice] });
  // Exactly what the next transitions will write: a change worked out from this record would leave it out.
  const meddle = ({ job }: { job: JobRecord }) => {
    Object.assign(job, { error: null, leaseOwner: null, leaseExpiresAt: null, finishedAt: null, seq: 0, fence: 0 });
  };
  queue.on('job:started', meddle);
  queue.on('job:retrying', meddle);
  queue.on('job:phase:completed', meddle);
  const id = await queue.enqueue('twice', null);
  expect(await queue.result(id)).toBe('there');
  expect(await queue.getJob(id)).toMatchObject({
    status: 'completed',
    error: null,
    leaseOwner: null,
    fence: 2,
    seq: 5,
  });
});

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
