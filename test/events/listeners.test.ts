import { pipeline } from 'millrace';
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

function revoked(): unknown {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
