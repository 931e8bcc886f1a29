/**
 * Parts: further processes of one trial, such as a worker that will be killed. A part is a module of bench/
 * whose default export is a function; it talks with the trial by messages and ends when the trial does.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

const CHILD = new URL('../child.js', import.meta.url);

/** Starts a process that calls the default export of `module` with `input`. Resolves when it is about to. */
export async function startPart(module: URL, input: unknown): Promise<ChildProcess> {
  const child = fork(CHILD, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  await once(child, 'message');
  child.send({ part: module.href, input });
  return child;
}

/** Waits for a message that has the field `key`, and answers with its value. An error or an early end rejects. */
export function hear<T>(child: ChildProcess, key: string): Promise<T> {
  return new Promise((resolve, reject) => {
    const onMessage = (message: Record<string, unknown>) => {
      if ('error' in message) done(() => reject(new Error(String(message.error))));
      else if (key in message) done(() => resolve(message[key] as T));
    };
    const onExit = (code: number | null, signal: string | null) =>
      done(() => reject(new Error(`A part of the trial ended early (${signal ?? `code ${code}`}).`)));
    const done = (settle: () => void) => {
      child.off('message', onMessage);
      child.off('exit', onExit);
      settle();
    };
    child.on('message', onMessage);
    child.on('exit', onExit);
  });
}

/** Inside the part: does what was asked. */
export async function runPart(module: string, input: unknown): Promise<void> {
  const { default: play } = (await import(module)) as { default: (input: unknown) => Promise<void> };
  await play(input);
}
