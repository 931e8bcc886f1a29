/** graphile-worker on a real PostgreSQL, with the batching its performance page recommends. It deletes completed jobs. */
import { importPeer } from '../peers/load.js';
import type { Contender, Work } from './queue.ts';

interface Utils {
  addJob(task: string, data: unknown): Promise<unknown>;
  addJobs(jobs: readonly { identifier: string; payload: unknown }[]): Promise<unknown>;
  withPgClient<T>(run: (client: { query(sql: string): Promise<{ rows: unknown[] }> }) => Promise<T>): Promise<T>;
  migrate(): Promise<void>;
  release(): Promise<void>;
}

interface Runner {
  readonly events: { on(event: string, listener: (event: { job: { payload: { n: number } } }) => void): void };
  stop(): Promise<void>;
}

interface Module {
  Logger: new (scope: () => () => void) => object;
  makeWorkerUtils(options: object): Promise<Utils>;
  run(options: object): Promise<Runner>;
}

/** As in its own performance test. */
const CONCURRENCY = 24;

export const graphile: Contender = {
  name: 'graphile-worker',
  peer: true,
  service: 'postgres',
  // Its local queue hands jobs to several workers at a time, which promises no order.
  order: 'any order',
  tellsWhenStored: false,
  async open(trial, options = {}) {
    const { Logger, makeWorkerUtils, run } = await importPeer<Module>('graphile-worker');
    const connectionString = trial.services.postgres;
    const schema = `gw_${trial.round}_${(options.database ?? 'jobs').replace(/\W/g, '_').toLowerCase()}`;
    const utils = await makeWorkerUtils({ connectionString, schema });
    await utils.migrate();
    let runner: Runner | null = null;
    let [added, done] = [0, 0];
    const waiting = async () => {
      const { n } = await utils.withPgClient<{ n: string }>(async (client) => {
        const { rows } = await client.query(`SELECT count(*) AS n FROM ${schema}._private_jobs`);
        return rows[0] as { n: string };
      });
      return Number(n);
    };
    return {
      add(data) {
        added++;
        return utils.addJob('mail', data);
      },
      addBulk(list) {
        added += list.length;
        return utils.addJobs(list.map((payload) => ({ identifier: 'mail', payload })));
      },
      async work({ onStart, onDone }: Work) {
        let told: number[] = [];
        runner = await run({
          noHandleSignals: true,
          taskList: { mail: async ({ n }: { n: number }) => onStart(n) },
          preset: {
            worker: {
              connectionString,
              schema,
              concurrentJobs: CONCURRENCY,
              localQueue: { size: options.lowLatency ? -1 : 500 },
              completeJobBatchDelay: 0,
              logger: new Logger(() => () => {}),
            },
          },
        });
        // The event comes before the completion is stored, so the last ones count only when the table says so.
        runner.events.on('job:complete', async ({ job }) => {
          told.push(job.payload.n);
          if (++done < added) return;
          while ((await waiting()) > 0);
          const stored = told;
          told = [];
          for (const n of stored) onDone(n);
        });
      },
      count: async () => ({ waiting: await waiting(), done }),
      async close() {
        await runner?.stop();
        // What is left behind would be vacuumed during somebody else's trial.
        await utils.withPgClient((client) => client.query(`DROP SCHEMA ${schema} CASCADE`));
        await utils.release();
      },
    };
  },
};
