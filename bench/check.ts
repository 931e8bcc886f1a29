/**
 * `npm run bench:check`: compares a run with the stored ratios of bench/baseline.json. By hand, not in CI: a shared
 * machine proves nothing. Only ratios between contenders of the same round are compared, never speeds; what looks
 * like a regression is run a second time, and fails only if both runs agree.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { regressions, type Stored } from './harness/compare.ts';
import { headerLines, machine } from './harness/machine.ts';
import { planFor, UsageError } from './harness/options.ts';
import { known, toText } from './harness/report.ts';
import { type Outcome, runScenario } from './harness/runner.ts';
import { say, session } from './harness/session.ts';
import { installPeers } from './peers/load.js';
import { findScenario } from './scenarios/index.ts';

const FILE = new URL('./baseline.json', import.meta.url);
const HELP = `npm run bench:check [-- <scenario…>] [--peers] [--rounds N] [--update]

Without names: every scenario of bench/baseline.json. --update stores this run's ratios instead of comparing.`;

interface Baseline {
  readonly machine: readonly string[];
  readonly scenarios: Readonly<Record<string, Stored>>;
}

await session(main, HELP);

async function main(): Promise<number> {
  const { values, positionals } = read();
  const baseline: Baseline = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : { machine: [], scenarios: {} };
  const names = positionals.length > 0 ? positionals : Object.keys(baseline.scenarios);
  if (values.peers) installPeers();
  const header = headerLines(machine(), []);
  for (const line of header) say(line);
  const run = (name: string): Promise<Outcome> => {
    const scenario = findScenario(name);
    const options = { jobs: null, rounds: values.rounds ? Number(values.rounds) : null, quick: false };
    return runScenario(
      scenario,
      planFor(scenario, { ...options, peers: values.peers ?? false, json: false, report: false, help: false }),
      say,
    );
  };
  const stored: Record<string, Stored> = { ...baseline.scenarios };
  let failed = 0;
  for (const name of names) {
    const outcome = await run(name);
    console.log(`${toText(outcome)}\n`);
    if (values.update) {
      const { ratio = {}, growth = {} } = stored[name] ?? {};
      stored[name] = { ratio: { ...ratio, ...known(outcome.ratio) }, growth: { ...growth, ...known(outcome.growth) } };
      continue;
    }
    let worse = regressions(stored[name] ?? {}, outcome);
    if (worse.length > 0) {
      say(`${name}: worse than stored; running it again to be sure`);
      const again = new Set(regressions(stored[name] ?? {}, await run(name)).map(({ key }) => key));
      worse = worse.filter(({ key }) => again.has(key));
    }
    for (const { text } of worse) console.log(`REGRESSION ${name}: ${text}`);
    failed += worse.length + Object.keys(outcome.refused).length;
  }
  if (values.update) writeFileSync(FILE, `${JSON.stringify({ machine: header, scenarios: stored }, null, 2)}\n`);
  console.log(values.update ? 'bench/baseline.json is written.' : failed ? `${failed} worse.` : 'No clear regression.');
  return failed > 0 ? 1 : 0;
}

function read() {
  try {
    const parsed = parseArgs({
      allowPositionals: true,
      options: { peers: { type: 'boolean' }, update: { type: 'boolean' }, rounds: { type: 'string' } },
    });
    parsed.positionals.forEach(findScenario);
    return parsed;
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}
