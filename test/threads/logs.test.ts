import { spawnSync } from 'node:child_process';
import { NotFoundError, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { at } from './at.ts';

test('what a handler writes to the console is kept with its job, in order', async () => {
  const talk = pipeline('talk')
    .input<string>()
    .phase('talk', { worker: at('talk.js') })
    .phase('inline', (_job, ctx) => ctx.log('from inside'));
  const queue = openQueue({ pipelines: [talk], threads: { count: 1 } });
  const id = await queue.enqueue('talk', 'you');
  await queue.result(id);
  const lines = await queue.logs(id);
  const table = lines.find(({ text }) => text.includes('index'));
  expect(lines.filter((line) => line !== table).map(({ level, text, phase }) => [level, text, phase])).toEqual([
    ['info', 'hello you { deep: [ 1, 2 ] }', 'talk'],
    ['warn', 'careful', 'talk'],
    ['error', 'only printed', 'talk'],
    ['debug', 'details', 'talk'],
    ['warn', 'by hand', 'talk'],
    ['info', 'from inside', 'inline'],
  ]);
  expect(table).toMatchObject({ level: 'info', attempt: 1, at: expect.any(Number) });
});

test('a flood of lines is bounded, and says so', async () => {
  const flood = pipeline('flood').phase('flood', { worker: at('talk.js'), export: 'flood' });
  const queue = openQueue({ pipelines: [flood], threads: { count: 1 } });
  const id = await queue.enqueue('flood', null);
  await queue.result(id);
  const lines = await queue.logs(id);
  expect(lines).toHaveLength(1_001);
  expect(lines.at(-1)?.text).toContain('more than 1000 lines');
});

test('the logs of a job nobody knows are not found, those of a silent one are empty', async () => {
  const quiet = pipeline('quiet').phase('run', () => null);
  const queue = openQueue({ pipelines: [quiet], claim: false });
  expect(await queue.logs(await queue.enqueue('quiet', null))).toEqual([]);
  await expect(queue.logs('nobody')).rejects.toThrow(NotFoundError);
});

test.each([
  [true, 'hello you'],
  [false, ''],
])('printLogs: %s decides whether lines are printed too', (printLogs, printed) => {
  const script = `
    import { JobQueue, pipeline } from 'millrace';
    const talk = pipeline('talk').phase('talk', { worker: new URL('talk.js', ${JSON.stringify(at('').href)}) });
    const queue = new JobQueue({ database: ':memory:', pipelines: [talk], threads: { count: 1, printLogs: ${printLogs} } });
    await queue.result(await queue.enqueue('talk', 'you'));
    await queue.shutdown();
  `;
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('../..', import.meta.url),
    encoding: 'utf8',
  });
  expect(stdout.split(' {')[0]).toBe(printed);
  expect(stderr.includes('careful')).toBe(printLogs);
});

test('a million reports of progress reach the queue as a few, and the last one among them', async () => {
  const talk = pipeline('talk').phase('run', { worker: at('talk.js'), export: 'progress' });
  const queue = openQueue({ pipelines: [talk], threads: { count: 1 } });
  const seen: number[] = [];
  queue.on('job:progress', ({ phaseProgress }) => seen.push(phaseProgress));
  const completed = nextEvent(queue, 'job:completed');
  await queue.enqueue('talk', null);
  await completed;
  expect(seen.length).toBeLessThan(1_000);
  expect(seen).toEqual([...seen].sort((a, b) => a - b));
  expect(seen.at(-1)).toBe(100);
});
