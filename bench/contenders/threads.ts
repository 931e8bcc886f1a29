/** Pipelines whose phase runs on a thread. A build of Millrace without thread phases says so in one line. */
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

/** `null`, or why scenarios with threads cannot run. */
export function threadsMissing(): string | null {
  try {
    threadPipeline('probe', { worker: handler('spin-millrace') });
    return null;
  } catch {
    return 'this build of Millrace has no thread phases yet: .phase(name, { worker: URL }).';
  }
}

/** A pipeline of one phase, which runs the handler file on a thread. */
export function threadPipeline(name: string, phase: ThreadPhase): AnyPipeline {
  // The cast lets the benchmarks compile against builds of before and after thread phases.
  return (pipeline(name) as unknown as { phase(name: string, phase: ThreadPhase): AnyPipeline }).phase('run', phase);
}

export function openThreaded(config: JobQueueConfig<readonly AnyPipeline[]>, count = THREADS): ThreadedQueue {
  return new JobQueue({ ...config, threads: { count } } as JobQueueConfig<readonly AnyPipeline[]>) as ThreadedQueue;
}

/** A handler file of bench/handlers. */
export function handler(name: string): URL {
  return new URL(`../handlers/${name}.js`, import.meta.url);
}
