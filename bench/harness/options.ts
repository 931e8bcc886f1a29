/** The command line. */
import { parseArgs } from 'node:util';
import { SCENARIOS } from '../scenarios/index.ts';
import type { Plan, Scenario } from './scenario.ts';

export interface Options {
  readonly scenarios: readonly Scenario[];
  readonly jobs: number | null;
  readonly rounds: number | null;
  readonly peers: boolean;
  readonly quick: boolean;
  readonly json: boolean;
  readonly report: boolean;
  readonly help: boolean;
}

/** A mistake of the person at the keyboard: shown without a stack. */
export class UsageError extends Error {}

export const HELP = `npm run bench                          lists the scenarios
npm run bench -- <scenario…> [options]  runs them; "all" runs every one

  --jobs N     how many jobs (each scenario has its own default)
  --rounds N   how many rounds, contenders taking turns (default 5)
  --peers      against plainjob, BullMQ, pg-boss, graphile-worker too; installs them in bench/peers when first asked
  --json       prints one JSON object per scenario as the last line(s)
  --quick      a smoke run: tiny counts, one round; no number means anything
  --report     writes bench/README.md's table, bench/results.svg and bench/results.json from this run
  --help       this

Progress goes to stderr, results to stdout. Ctrl-C ends it; nothing is left behind.
backlog goes up to ten million pending jobs: 6 GB of disk and some minutes. --jobs 1000000 is the small form.
Environment: BENCH_TMPDIR (where files go), REDIS_SERVER (path), BENCH_NODE_OPTIONS (such as --cpu-prof).`;

export function parse(argv: readonly string[]): Options {
  let parsed: ReturnType<typeof read>;
  try {
    parsed = read(argv);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const { values, positionals } = parsed;
  const names = positionals.includes('all') ? SCENARIOS.map(({ name }) => name) : [...new Set(positionals)];
  const scenarios = names.map((name) => {
    const found = SCENARIOS.find((each) => each.name === name);
    if (found) return found;
    throw new UsageError(
      `There is no scenario "${name}"; there are: ${SCENARIOS.map((each) => each.name).join(', ')}.`,
    );
  });
  const { peers = false, quick = false, json = false, report = false, help = false } = values;
  return {
    scenarios,
    jobs: count('jobs', values.jobs),
    rounds: count('rounds', values.rounds),
    peers,
    quick,
    json,
    report,
    help,
  };
}

/** A scenario's plan under these options. */
export function planFor(scenario: Scenario, { jobs, rounds, quick, peers }: Omit<Options, 'scenarios'>): Plan {
  return {
    jobs: jobs ?? (quick ? scenario.quickJobs : scenario.jobs),
    rounds: rounds ?? (quick ? 1 : (scenario.rounds ?? 5)),
    quick,
    peers,
  };
}

function read(argv: readonly string[]) {
  return parseArgs({
    args: [...argv],
    allowPositionals: true,
    options: {
      jobs: { type: 'string' },
      rounds: { type: 'string' },
      peers: { type: 'boolean' },
      quick: { type: 'boolean' },
      json: { type: 'boolean' },
      report: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
    },
  });
}

function count(name: string, value: string | undefined): number | null {
  if (value === undefined) return null;
  const number = Number(value.replaceAll('_', ''));
  if (!Number.isInteger(number) || number < 1)
    throw new UsageError(`--${name} takes a whole number from 1 up, not "${value}".`);
  return number;
}
