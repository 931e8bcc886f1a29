/** The shape of plainjob's own benchmark: many jobs in one file, a process per worker. Also the part that each process plays. */

import { millrace } from '../contenders/millrace.ts';
import { plainjob } from '../contenders/plainjob.ts';
import { type Contender, fill } from '../contenders/queue.ts';
import { Ledger, mustBe } from '../harness/ledger.ts';
import { hear, startPart } from '../harness/parts.ts';
import type { Numbers, Trial } from '../harness/scenario.ts';
import { sharedClock } from '../harness/timing.ts';

export const PROCESSES = 2;

interface Input {
  readonly contender: string;
  readonly trial: Trial;
}

/** What a process tells now and then: the jobs it did since it last spoke, and when the last of them was done. */
interface News {
  readonly started: number[];
  readonly done: number[];
  readonly at: number;
}

const TELL_EVERY = 250;

export async function drainWithProcesses(contender: Contender, trial: Trial, jobs: number): Promise<Numbers> {
  const queue = await contender.open(trial, { producerOnly: true });
  await fill(queue, jobs);
  const ledger = new Ledger(jobs);
  let last = 0;
  const workers = await Promise.all(
    Array.from({ length: PROCESSES }, async () => {
      const input: Input = { contender: contender.name, trial };
      const child = await startPart(new URL(import.meta.url), input);
      await hear(child, 'up');
      child.on('message', ({ started, done, at }: News) => {
        for (const n of started) ledger.start(n);
        for (const n of done) ledger.done(n);
        last = Math.max(last, at);
      });
      return child;
    }),
  );
  const began = sharedClock();
  for (const worker of workers) worker.send({ go: true });
  await ledger.finished();
  for (const worker of workers) worker.kill('SIGKILL');
  // Two processes take turns: each starts its own jobs in order, all of them together do not.
  ledger.verify('any order');
  mustBe(`jobs still waiting in ${contender.name}`, (await queue.count()).waiting, 0);
  await queue.close();
  return { processesJobsPerSecond: jobs / ((last - began) / 1000) };
}

/** The part: opens the queue, waits for the signal, works and tells. */
export default async function work({ contender: name, trial }: Input): Promise<void> {
  const contender = [millrace, plainjob].find((each) => each.name === name);
  if (!contender) throw new Error(`No contender "${name}".`);
  const queue = await contender.open(trial);
  let [started, done]: [number[], number[]] = [[], []];
  let at = 0;
  let timer: NodeJS.Timeout | null = null;
  const tell = () => {
    if (timer) clearTimeout(timer);
    timer = null;
    process.send?.({ started, done, at });
    [started, done] = [[], []];
  };
  process.once('message', () =>
    queue.work({
      concurrency: 100,
      onStart: (n) => started.push(n),
      onDone(n) {
        done.push(n);
        at = sharedClock();
        if (done.length >= TELL_EVERY) tell();
        else timer ??= setTimeout(tell, 5);
      },
    }),
  );
  process.send?.({ up: true });
}
