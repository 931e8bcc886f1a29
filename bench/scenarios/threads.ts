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

interface Task {
  readonly n: number;
  readonly steps: number;
}

/** Runs all tasks and tells of each result. */
type Drive = (
  trial: Trial,
  tasks: readonly Task[],
  onDone: (n: number, result: unknown) => void,
) => Promise<() => Promise<unknown>>;

export const threads: Scenario = {
  name: 'threads',
  title: '1, 10 and 100 ms of CPU per job on two threads',
  mode: 'file, WAL, synchronous NORMAL; Redis with appendonly; Piscina keeps nothing',
  jobs: 2_000,
  quickJobs: 50,
  measures: [
    'The work is a fixed number of steps, calibrated once per run to 1, 10 and 100 ms on an idle core; jobs, a fifth and a fiftieth of them.',
    `Everybody has ${THREADS} threads. Timed from the end of the first tenth (threads are up and warm) to the last result.`,
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
        numbers[`jobsPerSecond${size}`] = await measure(trial, drive, jobs, quick ? 1_000 : perMs * ms);
      }
      return numbers satisfies Numbers;
    },
  };
}

async function measure(trial: Trial, drive: Drive, jobs: number, steps: number): Promise<number> {
  // Threads finish in step: begun in the middle of a step, the clock would get the rest of the step for nothing.
  const warmUp = Math.ceil(jobs / 10 / THREADS) * THREADS;
  const ledger = new Ledger(jobs);
  const right = burn(steps);
  let [began, done] = [0, 0];
  const tasks = Array.from({ length: jobs }, (_, n) => ({ n, steps }));
  const close = await drive(trial, tasks, (n, result) => {
    mustBe(`result of job ${n}`, result as number, right);
    ledger.start(n);
    ledger.done(n);
    if (++done === warmUp) began = performance.now();
  });
  const ended = await ledger.finished();
  ledger.verify('any order');
  await close();
  return (jobs - warmUp) / ((ended - began) / 1000);
}

const driveMillrace: Drive = async (trial, tasks, onDone) => {
  const config = {
    database: databaseOf(trial, `${tasks[0]?.steps}.db`),
    pipelines: [threadPipeline('spin', { worker: handler('spin-millrace') })],
  };
  const queue = openThreaded(config);
  queue.on('job:completed', ({ job }) => onDone((job.data as Task).n, (job.phaseResults as { run: unknown }).run));
  await queue.enqueueMany(tasks.map((data) => ({ name: 'spin', data })));
  return () => queue.shutdown();
};

const drivePiscina: Drive = async (_trial, tasks, onDone) => {
  const pool = new Piscina({ filename: handler('spin-piscina').href, minThreads: THREADS, maxThreads: THREADS });
  for (const task of tasks) void pool.run(task).then((result) => onDone(task.n, result));
  return () => pool.destroy();
};

const driveBullmq: Drive = async (trial, tasks, onDone) => {
  const { Queue, Worker } = await importPeer<BullModule>('bullmq');
  const connection = connectionTo(trial.services.redis);
  const name = `spin-${trial.round}-${tasks[0]?.steps}`;
  const queue = new Queue(name, { connection });
  await queue.addBulk(tasks.map((data) => ({ name: 'spin', data })));
  const worker = new Worker(name, handler('spin-bullmq'), { connection, concurrency: THREADS, useWorkerThreads: true });
  worker.on('completed', ({ data, returnvalue }) => onDone(data.n, returnvalue));
  return async () => {
    await worker.close();
    await queue.close();
  };
};
