/** `npm run bench`: lists scenarios, or runs them and prints what came of it. */
import { loadavg } from 'node:os';
import { headerLines, machine } from './harness/machine.ts';
import { HELP, type Options, parse, planFor } from './harness/options.ts';
import { toJson, toText } from './harness/report.ts';
import { type Outcome, runScenario } from './harness/runner.ts';
import { serviceVersions } from './harness/services.ts';
import { say, session } from './harness/session.ts';
import { writeReport } from './harness/write-report.ts';
import { installPeers, peerVersion } from './peers/load.js';
import { SCENARIOS } from './scenarios/index.ts';

await session(() => main(parse(process.argv.slice(2))), HELP);

async function main(options: Options): Promise<number> {
  if (options.help) {
    console.log(HELP);
    return 0;
  }
  if (options.scenarios.length === 0) {
    for (const { name, title } of SCENARIOS) console.log(`${name.padEnd(11)} ${title}`);
    console.log(`\n${HELP}`);
    return 0;
  }
  const problem = options.peers ? installPeers() : null;
  if (problem) say(problem);
  const before = machine();
  for (const line of headerLines(before, [])) say(line);
  const outcomes: Outcome[] = [];
  for (const scenario of options.scenarios) {
    outcomes.push(await runScenario(scenario, planFor(scenario, options), say));
  }
  const header = headerLines(before, options.peers ? await versions() : [], loadavg()[0]);
  console.log(`\n${header.join('\n')}\n`);
  for (const outcome of outcomes) console.log(`${toText(outcome)}\n`);
  if (options.report) writeReport(header, outcomes.map(toJson));
  if (options.json) for (const outcome of outcomes) console.log(JSON.stringify(toJson(outcome)));
  return outcomes.some(({ refused }) => Object.keys(refused).length > 0) ? 1 : 0;
}

async function versions(): Promise<readonly string[]> {
  const packages = ['plainjob', 'bullmq', 'pg-boss', 'graphile-worker'].flatMap((name) => peerVersion(name) ?? []);
  return [...packages, ...(await serviceVersions())];
}
