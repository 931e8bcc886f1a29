/**
 * ELK on a thread of its own: it computes for half a second, which the host's event loop should not have to wait for, and the
 * thread takes its memory with it when it ends. Gets a graph as `workerData`, answers with the graph placed, or why not.
 */
import { parentPort, workerData } from 'node:worker_threads';
import type { ELK, ElkNode } from 'elkjs';

/** What the thread answers with. */
export type ElkAnswer = { readonly placed: ElkNode } | { readonly missing: string };

async function answer(): Promise<ElkAnswer> {
  let elk: ELK;
  try {
    const { default: Elk } = await import('elkjs/lib/elk.bundled.js');
    // TypeScript sees the module's namespace where Node hands out its class.
    elk = new (Elk as unknown as typeof import('elkjs').default)();
  } catch (error) {
    return { missing: error instanceof Error ? error.message : String(error) };
  }
  return { placed: await elk.layout(workerData as ElkNode) };
}

parentPort?.postMessage(await answer());
