/** Thread bank of the probe: loads one handler after the other and says what is wrong with each. */
import { parentPort, workerData } from 'node:worker_threads';
import { loadHandler } from './handler-loader.ts';
import type { HandlerRef } from './messages.ts';
import type { ProbeAnswer } from './probe.ts';

const { refs, first } = workerData as { refs: readonly HandlerRef[]; first: number };

for (const [index, ref] of refs.entries()) {
  if (index < first) continue;
  let problem: string | null = null;
  try {
    await loadHandler(ref);
  } catch (error) {
    problem = (error as Error).message;
  }
  parentPort?.postMessage({ index, problem } satisfies ProbeAnswer);
}
