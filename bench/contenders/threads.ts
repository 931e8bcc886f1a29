/** Pipelines whose phase runs on a thread. */
import { type AnyPipeline, JobQueue, type JobQueueConfig, pipeline } from 'millrace';

/** Everybody has this many threads. */
export const THREADS = 2;

export interface ThreadPhase {
  readonly worker: URL;
  readonly timeoutMs?: number;
  readonly graceMs?: number;
}

/** A queue of pipelines whose types are not known. */
export type ThreadedQueue = Omit<JobQueue, 'enqueue' | 'enqueueMany'> & {
  enqueue(name: string, data: unknown): Promise<string>;
  enqueueMany(jobs: readonly { name: string; data: unknown }[]): Promise<string[]>;
};

/** A pipeline of one phase, which runs the handler file on a thread. */
export function threadPipeline(name: string, phase: ThreadPhase): AnyPipeline {
  return pipeline(name).phase('run', phase);
}

export function openThreaded(config: JobQueueConfig<readonly AnyPipeline[]>, count = THREADS): ThreadedQueue {
  return new JobQueue({ ...config, threads: { count } }) as ThreadedQueue;
}

/** A handler file of bench/handlers. */
export function handler(name: string): URL {
  return new URL(`../handlers/${name}.js`, import.meta.url);
}
