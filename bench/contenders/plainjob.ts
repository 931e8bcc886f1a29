/** plainjob: SQLite, one job in flight per worker. Set up as its README and its own benchmark do. */
import Database from 'better-sqlite3';
import { mustBe } from '../harness/ledger.ts';
import { importPeer } from '../peers/load.js';
import { databaseOf } from './millrace.ts';
import type { Contender, Work } from './queue.ts';

interface Job {
  readonly id: number;
  readonly data: string;
}

interface Queue {
  add(type: string, data: unknown): { id: number };
  addMany(type: string, data: readonly unknown[]): { ids: number[] };
  countJobs(options: { status: number }): number;
  close(): void;
}

interface Module {
  better(database: Database.Database): unknown;
  defineQueue(options: object): Queue;
  defineWorker(
    type: string,
    run: (job: Job) => Promise<void>,
    options: object,
  ): { start(): Promise<void>; stop(): Promise<void> };
}

const [PENDING, DONE] = [0, 2];
const silent = { error() {}, warn() {}, info() {}, debug() {} };

export const plainjob: Contender = {
  name: 'plainjob',
  peer: true,
  order: 'in order',
  async open(trial, options = {}) {
    const { better, defineQueue, defineWorker } = await importPeer<Module>('plainjob');
    const db = new Database(databaseOf(trial, options.database ?? 'plainjob.db'), { timeout: 5_000 });
    const queue = defineQueue({ connection: better(db), logger: silent });
    mustBe('plainjob: synchronous (1 is NORMAL)', Number(db.pragma('synchronous', { simple: true })), 1);
    // Set after plainjob set its own, FULL holds.
    if (options.durability === 'power-loss') db.pragma('synchronous = FULL');
    const workers: { stop(): Promise<void> }[] = [];
    return {
      add: (data) => queue.add('mail', data),
      addBulk: (list) => queue.addMany('mail', list),
      work({ onStart, onDone }: Work) {
        const worker = defineWorker('mail', async (job) => onStart(JSON.parse(job.data).n), {
          queue,
          logger: silent,
          pollIntervall: 50,
          onCompleted: (job: Job) => onDone(JSON.parse(job.data).n),
        });
        workers.push(worker);
        void worker.start();
      },
      count: async () => ({
        waiting: queue.countJobs({ status: PENDING }),
        done: queue.countJobs({ status: DONE }),
      }),
      async close() {
        for (const worker of workers) await worker.stop();
        queue.close();
      },
    };
  },
};
