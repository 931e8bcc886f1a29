/** Millrace itself, by its public API alone. */
import { join } from 'node:path';
import { JobQueue, pipeline } from 'millrace';
import type { Trial } from '../harness/scenario.ts';
import type { Contender, OpenOptions, OpenQueue, Payload, Work } from './queue.ts';

export const millrace: Contender = {
  name: 'millrace',
  peer: false,
  order: 'in order',
  open: async (trial, options) => openMillrace(trial, options),
};

/** Where a trial's database is. */
export function databaseOf(trial: Trial, name = 'jobs.db'): string {
  return name === ':memory:' ? name : join(trial.folder, name);
}

/** The pipeline of all no-op scenarios: one inline phase that does what `handler` does. */
export function mail(handler: (n: number) => unknown = () => {}) {
  return pipeline('mail')
    .input<Payload>()
    .phase('send', (job) => {
      handler(job.data.n);
    });
}

function openMillrace(trial: Trial, options: OpenOptions = {}): OpenQueue {
  const database = databaseOf(trial, options.database);
  const durability = options.durability ?? 'process-crash';
  // Added by a queue that runs nothing, as a web server would; run by one that is opened for it.
  const producer = new JobQueue({ database, durability, pipelines: [mail()], claim: false });
  let consumer: typeof producer | null = null;
  return {
    // A process that also runs jobs adds them to the queue it runs, as an application does.
    add: (data) => (consumer ?? producer).enqueue('mail', data),
    addBulk: (list) => producer.enqueueMany(list.map((data) => ({ name: 'mail' as const, data }))),
    work({ concurrency, onStart, onDone }: Work) {
      consumer = new JobQueue({ database, durability, concurrency, pipelines: [mail(onStart)] });
      consumer.on('job:completed', ({ job }) => onDone(job.data.n));
    },
    async count() {
      const { jobs } = await producer.stats();
      return { waiting: (jobs.pending ?? 0) + (jobs.retrying ?? 0), done: jobs.completed ?? 0 };
    },
    async close() {
      await consumer?.shutdown();
      await producer.shutdown();
    },
  };
}
