/** pg-boss on a real PostgreSQL: fetch and complete in batches, as its own speed test does (`work` polls twice a second). */
import { importPeer } from '../peers/load.js';
import type { Contender, Work } from './queue.ts';

interface Boss {
  start(): Promise<unknown>;
  stop(options: object): Promise<void>;
  on(event: 'error', listener: () => void): void;
  createQueue(name: string): Promise<void>;
  send(name: string, data: unknown): Promise<unknown>;
  insert(jobs: readonly { name: string; data: unknown }[]): Promise<void>;
  fetch(name: string, options: { batchSize: number }): Promise<{ id: string; data: { n: number } }[]>;
  complete(name: string, ids: readonly string[]): Promise<unknown>;
  getDb(): { executeSql(sql: string): Promise<unknown> };
  getQueueSize(name: string, options?: { before: string }): Promise<number>;
}

export const pgBoss: Contender = {
  name: 'pg-boss',
  peer: true,
  service: 'postgres',
  // Jobs inserted together have the same creation time and random ids.
  order: 'any order',
  async open(trial, options = {}) {
    const { default: PgBoss } = await importPeer<{ default: new (options: object) => Boss }>('pg-boss');
    const schema = `boss_${trial.round}_${(options.database ?? 'jobs').replace(/\W/g, '_').toLowerCase()}`;
    const connectionString = trial.services.postgres;
    const boss = new PgBoss({ connectionString, schema, supervise: false, schedule: false });
    boss.on('error', () => {});
    await boss.start();
    await boss.createQueue('mail');
    let [running, done] = [true, 0];
    let working: Promise<void> = Promise.resolve();
    const loop = async ({ concurrency, onStart, onDone }: Work) => {
      while (running) {
        const jobs = await boss.fetch('mail', { batchSize: concurrency });
        for (const { data } of jobs) onStart(data.n);
        if (jobs.length > 0)
          await boss.complete(
            'mail',
            jobs.map(({ id }) => id),
          );
        done += jobs.length;
        for (const { data } of jobs) onDone(data.n);
      }
    };
    return {
      add: (data) => boss.send('mail', data),
      addBulk: (list) => boss.insert(list.map((data) => ({ name: 'mail', data }))),
      work(work: Work) {
        working = loop(work);
      },
      count: async () => ({ waiting: await boss.getQueueSize('mail', { before: 'completed' }), done }),
      async close() {
        running = false;
        await working;
        // What is left behind would be vacuumed during somebody else's trial.
        await boss.getDb().executeSql(`DROP SCHEMA ${schema} CASCADE`);
        await boss.stop({ graceful: false, wait: true });
      },
    };
  },
};
