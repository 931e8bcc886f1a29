/** What is printed: a table for people, one object per scenario for programs. */
import type { Results } from './results.ts';
import type { Outcome } from './runner.ts';
import { rounded } from './statistics.ts';

const NOISY = 0.25;

/** The scenario's object of `--json`. */
export function toJson({ scenario, plan, results, skipped, refused, ratio, growth }: Outcome) {
  const numbersOf = (contender: string) => mapValues(results.medians(contender), rounded);
  const peers = results.contenders.filter((name) => name !== 'millrace' && name !== 'limit');
  return {
    scenario: scenario.name,
    mode: scenario.mode,
    jobs: plan.jobs,
    rounds: plan.rounds,
    ...(plan.quick ? { quick: true } : {}),
    millrace: numbersOf('millrace'),
    peers: Object.fromEntries(peers.map((name) => [name, numbersOf(name)])),
    limit: numbersOf('limit'),
    ratio: known(ratio),
    growth: known(growth),
    spread: Object.fromEntries(results.contenders.map((name) => [name, mapValues(results.spreads(name), rounded)])),
    noisy: noisy(results),
    skipped,
    refused,
  };
}

/** Numbers whose rounds lie so far apart that neither they nor a ratio with them should be quoted. */
function noisy(results: Results): readonly string[] {
  return results.contenders.flatMap((contender) =>
    Object.entries(results.spreads(contender)).flatMap(([name, spread]) =>
      spread > NOISY ? [`${contender} ${words(name)} ± ${percent(spread)}`] : [],
    ),
  );
}

/** A table of text. */
export function toText(outcome: Outcome): string {
  const { scenario, plan, results, ratio, growth, refused } = outcome;
  const lines = [
    `${scenario.name}: ${scenario.title}`,
    `  ${plan.jobs.toLocaleString('en')} jobs, ${plan.rounds} rounds; ${scenario.mode}`,
  ];
  if (plan.quick) lines.push('  QUICK: a smoke run; these numbers mean nothing');
  for (const contender of results.contenders) {
    const spreads = results.spreads(contender);
    for (const [name, value] of Object.entries(results.medians(contender))) {
      lines.push(
        `  ${contender.padEnd(16)} ${words(name).padEnd(34)} ${show(value).padStart(12)}  ± ${percent(spreads[name] ?? 0)}`,
      );
    }
  }
  for (const [key, value] of Object.entries(known(ratio))) lines.push(`  ${value.toFixed(2).padStart(8)} × ${key}`);
  for (const [key, value] of Object.entries(known(growth)))
    lines.push(`  ${value.toFixed(2).padStart(8)} growth ${key}`);
  for (const each of noisy(results)) lines.push(`  NOISY, do not quote: ${each}`);
  for (const [who, why] of Object.entries(refused)) lines.push(`  REFUSED ${who}: ${why.split('\n')[0]}`);
  return lines.join('\n');
}

/** `claimUs10k` is "claim µs 10k", `idleStartP99Ms` is "idle start P99 ms". */
export function words(name: string): string {
  return name
    .replace('MiB', ' MiB')
    .replace(/(?<=[a-z0-9])(?=[A-Z])(?<!Mi)/g, ' ')
    .replace(/(?<=[a-z])(?=\d)/g, ' ')
    .split(/ +/)
    .map((word) => (/^P\d+$|^MiB$/.test(word) ? word : word.toLowerCase()))
    .map((word) => (word === 'us' ? 'µs' : word))
    .join(' ');
}

export function show(value: number): string {
  if (Math.abs(value) >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}

export function percent(share: number): string {
  return `${Math.round(share * 100)} %`;
}

/** The entries that have a value, rounded. */
export function known(values: Readonly<Record<string, number | undefined>> = {}): Record<string, number> {
  return Object.fromEntries(
    Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, rounded(value)]])),
  );
}

function mapValues(
  values: Readonly<Record<string, number>>,
  change: (value: number) => number,
): Record<string, number> {
  return Object.fromEntries(Object.entries(values).map(([key, value]) => [key, change(value)]));
}
