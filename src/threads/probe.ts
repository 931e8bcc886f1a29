/**
 * Main bank: are the handlers there, and can they be loaded? Asked once, in a thread made for it, so that a bad file is one clear
 * error at the start and not a thread that dies again and again.
 */
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { HandlerRef } from './messages.ts';
import { whyNotTypeScript } from './typescript.ts';

/** What can be seen without loading the file: `null` if nothing is wrong so far. */
export function whyNotThere(file: string): string | null {
  if (!file.startsWith('file:'))
    return `is ${file}, but must be a file: URL, as new URL('./handler.js', import.meta.url) makes`;
  const stat = statSync(fileURLToPath(file), { throwIfNoEntry: false });
  if (!stat) return `names a file that does not exist: ${fileURLToPath(file)}`;
  if (!stat.isFile()) return `names something that is not a file: ${fileURLToPath(file)}`;
  const problem = whyNotTypeScript(file);
  return problem && `${problem}: ${fileURLToPath(file)}`;
}

/** One answer of the probing thread. */
export interface ProbeAnswer {
  readonly index: number;
  readonly problem: string | null;
}

export interface ProbeOptions {
  readonly execArgv?: readonly string[] | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** A file that takes longer to load than this is called a problem. */
  readonly timeoutMs?: number;
}

/** Loads every handler once; answers with what is wrong, by index. Never rejects. */
export async function probeHandlers(
  refs: readonly HandlerRef[],
  options: ProbeOptions = {},
): Promise<ReadonlyMap<number, string>> {
  const problems = new Map<number, string>();
  let next = 0;
  while (next < refs.length) {
    // A file that takes its thread down with it does not keep the others from being looked at.
    const { seen, death } = await probeFrom(refs, next, problems, options);
    next = seen;
    if (death === null) break;
    problems.set(next, death);
    next++;
  }
  return problems;
}

/** Looks at the files from `first` on, until the end or the death of the thread. */
function probeFrom(
  refs: readonly HandlerRef[],
  first: number,
  problems: Map<number, string>,
  { execArgv, env, timeoutMs = 30_000 }: ProbeOptions,
): Promise<{ seen: number; death: string | null }> {
  return new Promise((resolve) => {
    let seen = first;
    const worker = new Worker(new URL('./probe-entry.js', import.meta.url), {
      workerData: { refs, first },
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
      ...(env === undefined ? {} : { env: { ...env } }),
    });
    worker.unref();
    const finish = (death: string | null) => {
      clearTimeout(timer);
      resolve({ seen, death });
      void worker.terminate();
    };
    const timer = setTimeout(() => finish(`did not finish loading within ${timeoutMs} ms`), timeoutMs);
    timer.unref();
    worker.on('message', ({ index, problem }: ProbeAnswer) => {
      if (problem !== null) problems.set(index, problem);
      seen = index + 1;
      if (seen === refs.length) finish(null);
    });
    worker.on('error', (error) => finish(`ended its thread while it was loaded: ${error.message}`));
    worker.on('exit', (code) => finish(`ended its thread while it was loaded (exit code ${code})`));
  });
}
