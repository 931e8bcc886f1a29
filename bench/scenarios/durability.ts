/** The price of surviving a power cut as well: SQLite's synchronous NORMAL against FULL. */
import { millrace } from '../contenders/millrace.ts';
import { plainjob } from '../contenders/plainjob.ts';
import { type Contender, entryOf } from '../contenders/queue.ts';
import { mustBe } from '../harness/ledger.ts';
import type { Numbers, Scenario, Trial } from '../harness/scenario.ts';
import { perSecond } from '../harness/timing.ts';
import { drainOnce } from './drain.ts';
import { concurrent } from './enqueue.ts';

const MODES = { normal: 'process-crash', full: 'power-loss' } as const;

export const durability: Scenario = {
  name: 'durability',
  title: 'synchronous NORMAL (survives kill -9) against FULL (survives a power cut)',
  mode: 'file, WAL, synchronous NORMAL and FULL',
  jobs: 5_000,
  quickJobs: 200,
  measures: [
    'drain and single as in the scenarios drain and enqueue, once with each mode.',
    'growth: the cost of a job with FULL divided by its cost with NORMAL. ratio: against plainjob with FULL set by hand.',
    'How much FULL costs depends on the disk, and on whether it tells the truth about having written.',
  ],
  entries: () =>
    [millrace, plainjob].flatMap((contender) =>
      (['normal', 'full'] as const).map((mode) =>
        entryOf(contender, (_, trial) => measure(contender, trial, mode), mode),
      ),
    ),
  conclude: (results) => {
    const growth = (what: string) =>
      results.quotient(['millrace', `normal${what}PerSecond`], ['millrace', `full${what}PerSecond`]);
    return {
      growth: { 'drain.full': growth('Drain'), 'single.full': growth('Single') },
      ratio: {
        'plainjob.drain.full': results.ahead('plainjob', 'fullDrainPerSecond'),
        'plainjob.single.full': results.ahead('plainjob', 'fullSinglePerSecond'),
      },
    };
  },
};

async function measure(contender: Contender, trial: Trial, mode: keyof typeof MODES): Promise<Numbers> {
  const level = MODES[mode];
  await drainOnce(contender, trial, 'warm.db', Math.ceil(trial.jobs / 4), level);
  const drain = await drainOnce(contender, trial, 'drain.db', trial.jobs, level);
  const queue = await contender.open(trial, { producerOnly: true, database: 'single.db', durability: level });
  const single = await perSecond(trial.jobs, () => concurrent(queue, trial.jobs));
  mustBe(`jobs that ${contender.name} has stored`, (await queue.count()).waiting, trial.jobs);
  await queue.close();
  return { [`${mode}DrainPerSecond`]: drain, [`${mode}SinglePerSecond`]: single };
}
