import { BadHandlerError, InvalidInputError, pipeline, worker } from 'millrace';
import { describe, expect, test } from 'vitest';
import { nextEvent, openQueue } from '../support/open-queue.ts';
import { at } from './at.ts';

describe('a handler that can be loaded', () => {
  test.each([
    ['a named export', { worker: at('echo.js'), export: 'shout' }, 'HI'],
    ['a CommonJS file', { worker: at('legacy.cjs') }, 'commonjs hi'],
    ['an export of a CommonJS file', { worker: at('legacy.cjs'), export: 'other' }, 'other'],
  ])('may be %s', async (_, phase, result) => {
    const flow = pipeline('flow').input<string>().phase('run', phase);
    const queue = openQueue({ pipelines: [flow], threads: { count: 1 } });
    await queue.ready();
    expect(await queue.result(await queue.enqueue('flow', 'hi'))).toBe(result);
  });

  test('may be TypeScript where tsx is installed, and gives the phase its result type', async () => {
    const flow = pipeline('flow')
      .input<{ width: number }>()
      .phase('run', worker<typeof import('./handlers/typed.ts')>(at('typed.ts')))
      .phase('look', (_job, ctx) => ctx.phaseResult('run').width + ctx.phaseResult('run').label.length);
    const queue = openQueue({ pipelines: [flow], threads: { count: 1 } });
    await queue.ready();
    expect(await queue.result(await queue.enqueue('flow', { width: 20 }))).toBe(47);
  });
});

describe('a handler that cannot be there is refused when its phase is declared', () => {
  test.each([
    ['a file that does not exist', at('nowhere.js'), /does not exist: .*nowhere\.js/],
    ['a folder', at('.'), /not a file/],
    ['a web address', new URL('https://example.com/x.js'), /must be a file: URL/],
    ['a string', './echo.js', /must be a URL/],
  ])('%s', (_, url, message) => {
    const declare = () => pipeline('flow').phase('run', { worker: url as URL });
    expect(declare).toThrow(InvalidInputError);
    expect(declare).toThrow(message);
    expect(declare).toThrow('pipeline "flow".phase("run").worker');
  });

  test.each([
    ['timeoutMs', 0],
    ['graceMs', -1],
    ['cpuMs', 1.5],
    ['memoryMb', 7],
    ['export', ''],
    ['pool', 'no name'],
    ['shared', 'yes'],
    ['wroker', 1],
  ])('%s: %j', (key, value) => {
    const declare = () => pipeline('flow').phase('run', { worker: at('echo.js'), [key]: value });
    expect(declare).toThrow(`pipeline "flow".phase("run").${key}`);
  });
});

describe('a handler that cannot be loaded is one clear error', () => {
  const broken = [
    ['a syntax error', { worker: at('broken-syntax.js') }, /cannot be loaded/],
    ['a throw at import', { worker: at('broken-import.js') }, /thrown while being imported/],
    ['an exit at import', { worker: at('broken-exit.js') }, /ended its thread while it was loaded \(exit code 3\)/],
    ['a missing export', { worker: at('echo.js'), export: 'shuot' }, /no function as its export "shuot".*shout/],
  ] as const;

  test.each(broken)('%s', async (_, phase, text) => {
    const good = pipeline('good').phase('run', { worker: at('echo.js') });
    const bad = pipeline('bad')
      .phase('fine', () => 1)
      .phase('broken', phase);
    const queue = openQueue({ pipelines: [bad, good], threads: { count: 1 } });
    const reported: unknown[] = [];
    queue.on('error', ({ error }) => reported.push(error));
    const left = await queue.enqueue('bad', null);
    const refused = queue.ready();
    await expect(refused).rejects.toThrow(BadHandlerError);
    await expect(refused).rejects.toThrow('Pipeline "bad", phase "broken"');
    await expect(refused).rejects.toThrow(text);
    // Others go on; its own jobs wait for better times, and no thread dies again and again.
    await queue.result(await queue.enqueue('good', null));
    expect((await queue.getJob(left))?.status).toBe('pending');
    expect(reported).toHaveLength(1);
  });

  test("or, with badHandler: 'warning', a failure of the phase", async () => {
    const bad = pipeline('bad').phase('broken', { worker: at('broken-import.js') });
    const queue = openQueue({ pipelines: [bad], threads: { count: 1, badHandler: 'warning' } });
    const reported = nextEvent(queue, 'error');
    const id = await queue.enqueue('bad', null, { maxAttempts: 1 });
    await expect(queue.result(id)).rejects.toThrow('thrown while being imported');
    expect((await queue.getJob(id))?.error).toMatchObject({ code: 'bad_handler', outcome: 'threw' });
    expect((await reported).error).toBeInstanceOf(BadHandlerError);
  });
});
