/** What durability costs jobs that do real work on threads: Millrace against a bare Piscina, and BullMQ's worker threads. */
import { Piscina } from 'piscina';
import { type BullModule, connectionTo } from '../contenders/bullmq.ts';
import { databaseOf } from '../contenders/millrace.ts';
import { handler, openThreaded, THREADS, threadPipeline } from '../contenders/threads.ts';
import { burn } from '../handlers/burn.js';
import { stepsPerMs } from '../harness/calibration.ts';
import { Ledger, mustBe } from '../harness/ledger.ts';
import type { Entry, Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { importPeer } from '../peers/load.js';

const SIZES = { '1ms': 1, '10ms': 10, '100ms': 100 } as const;

/** Jobs of next to no work that come before the others. */
const WARM_UP = 2_000;
const WARM_UP_STEPS = 20;

interface Task {
  readonly n: number;
  readonly steps: number;
}

/** A contender at work. */
interface Driver {
  /** Gives it tasks, all at once. */
  give(tasks: readonly Task[]): unknown;
  close(): Promise<unknown>;
}

/** Sets up a contender, which tells of each result. */
type Drive = (trial: Trial, name: string, onDone: (n: number, result: unknown) => void) => Promise<Driver>;

export const threads: Scenario = {
  name: 'threads',
  title: '1, 10 and 100 ms of CPU per job on two threads',
  mode: 'file, WAL, synchronous NORMAL; Redis with appendonly; Piscina keeps nothing',
  jobs: 2_000,
  quickJobs: 50,
  measures: [
    'The work is a fixed number of steps, calibrated once per run to 1, 10 and 100 ms on an idle core; jobs, a fifth and a fiftieth of them.',
    `Everybody has ${THREADS} threads. ${WARM_UP.toLocaleString('en')} tiny jobs come first, so that threads are up and code is compiled. Timed from the end of the first tenth to the last result.`,
    'piscina: minThreads = maxThreads = 2, all tasks given at once. bullmq: useWorkerThreads, concurrency 2.',
    'Every result must be the right number, once per job.',
  ],
  entries: ({ quick }) => [
    entry('millrace', driveMillrace, quick),
    entry('piscina', drivePiscina, quick),
    { ...entry('bullmq', driveBullmq, quick), peer: true, service: 'redis' },
  ],
  conclude: (results) => ({
    ratio: Object.fromEntries(
      ['piscina', 'bullmq'].flatMap((peer) =>
        Object.keys(SIZES).map((size) => [`${peer}.${size}`, results.ahead(peer, `jobsPerSecond${size}`)]),
      ),
    ),
  }),
};

function entry(contender: string, drive: Drive, quick: boolean): Entry {
  return {
    contender,
    async run(trial) {
      const perMs = stepsPerMs(trial);
      const numbers: Record<string, number> = {};
      for (const [size, ms] of Object.entries(SIZES)) {
        const jobs = quick ? 10 : Math.ceil(trial.jobs / (ms === 1 ? 1 : ms / 2));
        const steps = quick ? WARM_UP_STEPS : perMs * ms;
        numbers[`jobsPerSecond${size}`] = await measure(trial, drive, jobs, steps, quick ? 10 : WARM_UP);
      }
      return numbers satisfies Numbers;
    },
  };
}

async function measure(trial: Trial, drive: Drive, jobs: number, steps: number, tiny: number): Promise<number> {
  // Threads finish in step: begun in the middle of a step, the clock would get the rest of the step for nothing.
  const untimed = Math.ceil(jobs / 10 / THREADS) * THREADS;
  let [ledger, right, began, done] = [new Ledger(tiny), burn(WARM_UP_STEPS), 0, 0];
  const driver = await drive(trial, `${steps}`, (n, result) => {
    mustBe(`result of job ${n}`, result as number, right);
    ledger.start(n);
    ledger.done(n);
    if (++done === tiny + untimed) began = performance.now();
  });
  await driver.give(tasksOf(tiny, WARM_UP_STEPS));
  await ledger.finished();
  ledger.verify('any order');
  [ledger, right] = [new Ledger(jobs), burn(steps)];
  await driver.give(tasksOf(jobs, steps));
  const ended = await ledger.finished();
  ledger.verify('any order');
  await driver.close();
  return (jobs - untimed) / ((ended - began) / 1000);
}

function tasksOf(count: number, steps: number): readonly Task[] {
  return Array.from({ length: count }, (_, n) => ({ n, steps }));
}

const driveMillrace: Drive = async (trial, name, onDone) => {
  const queue = openThreaded({
    database: databaseOf(trial, `${name}.db`),
    pipelines: [threadPipeline('spin', { worker: handler('spin-millrace') })],
  });
  queue.on('job:completed', ({ job }) => onDone((job.data as Task).n, (job.phaseResults as { run: unknown }).run));
  return {
    give: (tasks) => queue.enqueueMany(tasks.map((data) => ({ name: 'spin', data }))),
    close: () => queue.shutdown(),
  };
};

const drivePiscina: Drive = async (_trial, _name, onDone) => {
  const pool = new Piscina({ filename: handler('spin-piscina').href, minThreads: THREADS, maxThreads: THREADS });
  return {
    give(tasks) {
      for (const task of tasks) void pool.run(task).then((result) => onDone(task.n, result));
    },
    close: () => pool.destroy(),
  };
};

const driveBullmq: Drive = async (trial, size, onDone) => {
  const { Queue, Worker } = await importPeer<BullModule>('bullmq');
  const connection = connectionTo(trial.services.redis);
  const name = `spin-${trial.round}-${size}`;
  const queue = new Queue(name, { connection });
  const worker = new Worker(name, handler('spin-bullmq'), { connection, concurrency: THREADS, useWorkerThreads: true });
  worker.on('completed', ({ data, returnvalue }) => onDone(data.n, returnvalue));
  return {
    give: (tasks) => queue.addBulk(tasks.map((data) => ({ name: 'spin', data }))),
    async close() {
      await worker.close();
      await queue.close();
    },
  };
};
