/** Runs a scenario: which entries can run, round after round of them in turn, and the temporary files of it all. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { runTrial } from './child-process.ts';
import { filesFolder } from './machine.ts';
import { Results } from './results.ts';
import { type Conclusion, type Entry, entryName, type Plan, type Scenario } from './scenario.ts';
import { startService } from './services.ts';

const TRIAL_TIMEOUT_MS = 30 * 60_000;
const folders = new Set<string>();

/** What came of a scenario. */
export interface Outcome extends Conclusion {
  readonly scenario: Scenario;
  readonly plan: Plan;
  readonly results: Results;
  /** Contenders that could not run, and why. */
  readonly skipped: Readonly<Record<string, string>>;
  /** Entries that ran and were refused: lost, doubled or reordered jobs, or a crash. */
  readonly refused: Readonly<Record<string, string>>;
}

/** Runs all rounds. `say` is told of progress. */
export async function runScenario(scenario: Scenario, plan: Plan, say: (line: string) => void): Promise<Outcome> {
  const skipped: Record<string, string> = {};
  const refused: Record<string, string> = {};
  const results = new Results();
  const folder = tempFolder(scenario.name);
  try {
    const { entries, services } = await prepare(scenario, plan, skipped);
    for (const [who, why] of Object.entries(skipped)) say(`${scenario.name}: without ${who}: ${why}`);
    if (entries.length === 0) say(`${scenario.name}: nothing to run with ${plan.jobs.toLocaleString('en')} jobs.`);
    const shared = join(folder, 'shared');
    mkdirSync(shared);
    for (let round = 0; round < plan.rounds; round++) {
      // Every other round in reverse order: whoever goes first in a noisy minute is not always the same.
      for (const entry of round % 2 === 0 ? entries : [...entries].reverse()) {
        const name = entryName(entry);
        if (refused[name] !== undefined) continue;
        const own = join(folder, `${name.replace(':', '-')}-${round}`);
        mkdirSync(own);
        const began = Date.now();
        try {
          const trial = { scenario: scenario.name, entry: name, jobs: plan.jobs, quick: plan.quick, round };
          const numbers = await runTrial({ ...trial, folder: own, shared, services }, plan, TRIAL_TIMEOUT_MS);
          results.add(round, entry.contender, numbers);
          say(`${scenario.name} ${round + 1}/${plan.rounds} ${name}: ${brief(numbers)} (${seconds(began)})`);
        } catch (error) {
          refused[name] = (error as Error).message;
          say(`${scenario.name} ${round + 1}/${plan.rounds} ${name}: REFUSED: ${refused[name]}`);
        }
        rmSync(own, { recursive: true, force: true });
      }
    }
    return { scenario, plan, results, skipped, refused, ...scenario.conclude?.(results) };
  } finally {
    remove(folder);
  }
}

/** Takes away whatever is left in the temporary folder. */
export function removeTempFolders(): void {
  for (const folder of folders) remove(folder);
}

async function prepare(scenario: Scenario, plan: Plan, skipped: Record<string, string>) {
  const entries: Entry[] = [];
  const services: Record<string, string> = {};
  for (const entry of scenario.entries(plan)) {
    if (entry.peer && !plan.peers) continue;
    let why = (await entry.unavailable?.(plan)) ?? null;
    if (why === null && entry.service && services[entry.service] === undefined) {
      const service = await startService(entry.service);
      if ('missing' in service) why = service.missing;
      else services[entry.service] = service.url;
    }
    if (why === null) entries.push(entry);
    else skipped[entryName(entry)] = why;
  }
  return { entries, services };
}

function tempFolder(name: string): string {
  const folder = mkdtempSync(join(filesFolder(), `millrace-bench-${name}-`));
  folders.add(folder);
  return folder;
}

function remove(folder: string): void {
  folders.delete(folder);
  rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function brief(numbers: Readonly<Record<string, number>>): string {
  return Object.entries(numbers)
    .map(([name, value]) => `${name} ${value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3)}`)
    .join(', ');
}

function seconds(since: number): string {
  return `${((Date.now() - since) / 1000).toFixed(1)} s`;
}
