import { expect, test } from 'vitest';
import { inheritedExecArgv } from '../../../src/threads/exec-argv.ts';

test('Node hands on its own options, whatever they are', () => {
  expect(inheritedExecArgv([])).toBeUndefined();
  expect(inheritedExecArgv(['--max-old-space-size=512', '--expose-gc', '--import', 'tsx'])).toBeUndefined();
});

test.each([
  [['--input-type=module', '-e'], []],
  [['--expose-gc', '--input-type', 'module', '--eval'], []],
  [
    ['--import', 'tsx', '-p', '--no-warnings'],
    ['--import', 'tsx', '--no-warnings'],
  ],
  [
    ['-r', './a.cjs', '--conditions=dev', '--stack-trace-limit=50', '-e'],
    ['-r', './a.cjs', '--conditions=dev'],
  ],
])('of a program given on the command line, what is about loading is kept: %j', (given, kept) => {
  expect(inheritedExecArgv(given)).toEqual(kept);
});
