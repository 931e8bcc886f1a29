/** A queue that is shut down when its test ends, and waiting for facts instead of time. */
import { type AnyPipeline, JobQueue, type JobQueueConfig, type QueueEvents, ShutdownTimeoutError } from 'millrace';
import { onTestFinished } from 'vitest';
import { tempDatabase } from './temp-database.ts';

type Config<P extends readonly AnyPipeline[]> = Omit<JobQueueConfig<P>, 'database'> &
  Partial<Pick<JobQueueConfig, 'database'>>;

export function openQueue<const P extends readonly AnyPipeline[]>(config: Config<P>): JobQueue<P> {
  // The folder's clean-up is registered first, so that it runs last.
  const database = config.database ?? tempDatabase();
  const queue = new JobQueue<P>({ ...config, database } as JobQueueConfig<P>);
  onTestFinished(() => closeQueue(queue));
  return queue;
}

/** Shuts down without patience; jobs that had to be stopped are nobody's concern here. */
export async function closeQueue(queue: Pick<JobQueue, 'shutdown'>): Promise<void> {
  await queue.shutdown({ timeoutMs: 0, graceMs: 100 }).catch((error: unknown) => {
    if (!(error instanceof ShutdownTimeoutError)) throw error;
  });
}

/** Resolves with the next event of this name that satisfies the condition. */
export function nextEvent<Name extends keyof QueueEvents>(
  queue: Pick<JobQueue, 'on'>,
  name: Name,
  condition: (event: QueueEvents[Name]) => boolean = () => true,
): Promise<QueueEvents[Name]> {
  return new Promise((resolve) => {
    const off = queue.on(name, (event) => {
      if (!condition(event)) return;
      off();
      resolve(event);
    });
  });
}

/** A promise with its end in your hands. */
export function gate<T = void>() {
  let open!: (value: T) => void;
  const opened = new Promise<T>((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** Resolves when the signal aborts, with its reason. */
export function aborted(signal: AbortSignal): Promise<{ code?: string }> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    else signal.addEventListener('abort', () => resolve(signal.reason), { once: true });
  });
}
