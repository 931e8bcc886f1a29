/** BullMQ on a real Redis with the append-only file on. Completed jobs are kept, as they are by everybody else here. */
import { importPeer } from '../peers/load.js';
import type { Contender, Work } from './queue.ts';

interface Job {
  readonly data: { readonly n: number };
  readonly returnvalue?: unknown;
}

interface Queue {
  add(name: string, data: unknown): Promise<unknown>;
  addBulk(jobs: readonly { name: string; data: unknown }[]): Promise<unknown>;
  getJobCounts(...states: string[]): Promise<Record<string, number>>;
  obliterate(options: { force: boolean }): Promise<void>;
  close(): Promise<void>;
}

export interface Worker {
  on(event: 'completed' | 'error', listener: (job: Job) => void): void;
  waitUntilReady(): Promise<unknown>;
  run(): Promise<void>;
  close(force?: boolean): Promise<void>;
}

export interface BullModule {
  Queue: new (name: string, options: object) => Queue;
  Worker: new (name: string, processor: unknown, options: object) => Worker;
}

/** The connection options BullMQ asks for. */
export function connectionTo(url: string | undefined): object {
  const { hostname, port } = new URL(url ?? '');
  return { host: hostname, port: Number(port), maxRetriesPerRequest: null };
}

export const bullmq: Contender = {
  name: 'bullmq',
  peer: true,
  service: 'redis',
  order: 'in order',
  async open(trial, options = {}) {
    const { Queue, Worker } = await importPeer<BullModule>('bullmq');
    const connection = connectionTo(trial.services.redis);
    const name = `bench-${trial.round}-${options.database ?? 'jobs'}`;
    const queue = new Queue(name, { connection });
    let worker: Worker | null = null;
    return {
      add: (data) => queue.add('mail', data),
      addBulk: (list) => queue.addBulk(list.map((data) => ({ name: 'mail', data }))),
      async work({ concurrency, onStart, onDone }: Work) {
        worker = new Worker(name, async (job: Job) => onStart(job.data.n), { connection, concurrency, autorun: false });
        worker.on('completed', (job) => onDone(job.data.n));
        await worker.waitUntilReady();
        void worker.run();
      },
      async count() {
        const { waiting = 0, completed = 0 } = await queue.getJobCounts('waiting', 'completed');
        return { waiting, done: completed };
      },
      async close() {
        await worker?.close();
        await queue.obliterate({ force: true });
        await queue.close();
      },
    };
  },
};
