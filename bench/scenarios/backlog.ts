/**
 * Does a claim cost more when more jobs are waiting? Timed are commits that contain nothing but claims. To get
 * them, running jobs are cancelled but their handlers hold on to their slots; when all slots are let go at
 * once, the next commit has no completion in it, only claims for the free slots.
 */
import { join } from 'node:path';
import { JobQueue, pipeline } from 'millrace';
import { mail } from '../contenders/millrace.ts';
import { BULK, type Payload, payloads } from '../contenders/queue.ts';
import { mustBe, VerifyError } from '../harness/ledger.ts';
import { freeDisk } from '../harness/machine.ts';
import type { Entry, Scenario } from '../harness/scenario.ts';
import { median } from '../harness/statistics.ts';
import { deferred } from '../harness/timing.ts';

const SLOTS = 16;
/** What a pending job takes on disk, the WAL beside it included, generously. */
const BYTES_PER_JOB = 600;
const SIZES = [
  ['10k', 10_000],
  ['100k', 100_000],
  ['1m', 1_000_000],
  ['10m', 10_000_000],
] as const;

export const backlog: Scenario = {
  name: 'backlog',
  title: 'the cost of a claim with 10 thousand to ten million jobs waiting (6 GB of disk; --jobs sets the most)',
  mode: 'file, WAL, synchronous NORMAL',
  jobs: 10_000_000,
  quickJobs: 300,
  measures: [
    `claim: the time of a commit that claims ${SLOTS} jobs and does nothing else, divided by ${SLOTS}; median of 100 commits.`,
    'job: a whole no-op job (claim, handler, completion), from the 500th to the 1,500th of a drain.',
    'growth: the cost divided by the cost with 10 thousand jobs waiting, of the same round.',
  ],
  entries: ({ jobs, quick }) =>
    SIZES.filter(([label, size]) => (quick ? label !== '10m' : size <= jobs)).map(([label, size]) =>
      entry(label, size),
    ),
  conclude: (results) => {
    const grown = (what: string, label: string) =>
      results.quotient(['millrace', `${what}Us${label}`], ['millrace', `${what}Us10k`]);
    const labels = SIZES.slice(1).map(([label]) => label);
    return {
      growth: {
        ...Object.fromEntries(labels.map((label) => [label, grown('claim', label)])),
        ...Object.fromEntries(labels.map((label) => [`job.${label}`, grown('job', label)])),
      },
    };
  },
};

function entry(label: string, size: number): Entry {
  return {
    contender: 'millrace',
    variant: label,
    unavailable: ({ quick }) => (quick ? null : tooLittleDisk(size)),
    async run(trial) {
      const waiting = trial.quick ? trial.jobs : size;
      const database = join(trial.shared, `${label}.db`);
      const samples = trial.quick ? 5 : 100;
      const jobs = trial.quick ? 100 : 1_500;
      // Half of what will be taken is put on top: on average, as many are waiting as the label says.
      await fillUp(database, waiting + Math.ceil(((samples * 1.1 + 1) * SLOTS + jobs) / 2));
      return {
        [`claimUs${label}`]: await claimCost(database, samples),
        [`jobUs${label}`]: await jobCost(database, jobs),
      };
    },
  };
}

function tooLittleDisk(jobs: number): string | null {
  const gigabytes = (bytes: number) => `${(bytes / 1e9).toFixed(1)} GB`;
  const needed = jobs * BYTES_PER_JOB;
  const free = freeDisk();
  return free > needed
    ? null
    : `it needs ${gigabytes(needed)} of disk and there are ${gigabytes(free)}; BENCH_TMPDIR may name another.`;
}

async function fillUp(database: string, wanted: number): Promise<void> {
  const producer = new JobQueue({ database, pipelines: [mail()], claim: false });
  let pending = (await producer.stats()).jobs.pending ?? 0;
  while (pending < wanted) {
    const list = payloads(pending, Math.min(pending + BULK, wanted));
    await producer.enqueueMany(list.map((data) => ({ name: 'mail' as const, data })));
    pending += list.length;
  }
  await producer.shutdown();
}

/** Microseconds per claim. */
async function claimCost(database: string, samples: number): Promise<number> {
  let held: { id: string; letGo(): void }[] = [];
  let full = deferred<void>();
  let [began, took] = [0, 0];
  const holding = pipeline('mail')
    .input<Payload>()
    .phase('send', (job) => {
      const { promise, resolve } = deferred<void>();
      held.push({ id: job.id, letGo: resolve });
      if (held.length === SLOTS) full.resolve();
      return promise;
    });
  const queue = new JobQueue({
    database,
    pipelines: [holding],
    concurrency: SLOTS,
    onPoint(point) {
      if (point === 'before-commit') began = performance.now();
      if (point === 'after-commit') took = performance.now() - began;
    },
  });
  const before = (await queue.stats()).jobs.cancelled ?? 0;
  const warmUp = Math.ceil(samples / 10);
  const costs: number[] = [];
  for (let sample = 0; sample < samples + warmUp; sample++) {
    await full.promise;
    await Promise.all(held.map(({ id }) => queue.cancel(id)));
    const old = held;
    [held, full] = [[], deferred<void>()];
    for (const { letGo } of old) letGo();
    // The claims' commit is the next one, and its handlers are called before anything else can be committed.
    await full.promise;
    if (held.length !== SLOTS) throw new VerifyError(`A commit claimed ${held.length} jobs, not ${SLOTS}.`);
    if (sample >= warmUp) costs.push((took * 1_000) / SLOTS);
  }
  const cancelled = (await queue.stats()).jobs.cancelled ?? 0;
  mustBe('jobs claimed and cancelled', cancelled - before, (samples + warmUp) * SLOTS);
  for (const { letGo } of held) letGo();
  await queue.shutdown();
  return median(costs);
}

/** Microseconds per whole job. */
async function jobCost(database: string, jobs: number): Promise<number> {
  const warmUp = Math.ceil(jobs / 3);
  const over = deferred<number>();
  let [done, began] = [0, 0];
  const queue = new JobQueue({ database, pipelines: [mail()], concurrency: SLOTS });
  queue.on('job:completed', () => {
    done++;
    if (done === warmUp) began = performance.now();
    if (done === jobs) over.resolve(performance.now());
  });
  const ended = await over.promise;
  await queue.shutdown();
  return ((ended - began) * 1_000) / (jobs - warmUp);
}
