/** The list of scenarios. A new one is a file beside this and a line in it. */
import type { Scenario } from '../harness/scenario.ts';
import { backlog } from './backlog.ts';
import { cancel } from './cancel.ts';
import { drain } from './drain.ts';
import { durability } from './durability.ts';
import { enqueue } from './enqueue.ts';
import { host } from './host.ts';
import { latency } from './latency.ts';
import { memory } from './memory.ts';
import { recovery } from './recovery.ts';
import { stream } from './stream.ts';
import { threads } from './threads.ts';

export const SCENARIOS: readonly Scenario[] = [
  enqueue,
  drain,
  latency,
  threads,
  cancel,
  host,
  backlog,
  memory,
  recovery,
  durability,
  stream,
];

export function findScenario(name: string): Scenario {
  const scenario = SCENARIOS.find((each) => each.name === name);
  if (!scenario) throw new Error(`There is no scenario "${name}".`);
  return scenario;
}
