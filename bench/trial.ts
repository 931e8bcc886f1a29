/** The inside of a trial's process: finds the entry, lets it work, and sends the numbers (or the refusal) to the parent. */
import { runPart } from './harness/parts.ts';
import { entryName, type Plan, type Trial } from './harness/scenario.ts';
import { findScenario } from './scenarios/index.ts';

/** What a trial's process is asked to do; a trial may ask for further processes, each playing a named part. */
export type Order = { readonly trial: Trial; readonly plan: Plan } | { readonly part: string; readonly input: unknown };

/** Without its parent a trial has nobody to work for. */
process.on('disconnect', () => process.exit(1));

process.once('message', async (order: Order) => {
  try {
    if ('part' in order) await runPart(order.part, order.input);
    else answer({ numbers: await runTrial(order) });
  } catch (error) {
    answer({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  }
});
send({ ready: true });

async function runTrial({ trial, plan }: Extract<Order, { trial: Trial }>) {
  const entry = findScenario(trial.scenario)
    .entries(plan)
    .find((each) => entryName(each) === trial.entry);
  if (!entry) throw new Error(`Scenario "${trial.scenario}" has no entry "${trial.entry}".`);
  return entry.run(trial);
}

function send(message: object): void {
  process.send?.(message);
}

/** The last word. Exits itself, so that a profiler (`BENCH_NODE_OPTIONS=--cpu-prof`) can write what it has. */
function answer(message: object): void {
  process.send?.(message, () => process.exit(0));
}
