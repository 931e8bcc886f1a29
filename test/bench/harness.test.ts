/** The harness itself: what it refuses, and how it counts. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { regressions } from '../../bench/harness/compare.ts';
import { Ledger } from '../../bench/harness/ledger.ts';
import { parse, planFor } from '../../bench/harness/options.ts';
import { Results } from '../../bench/harness/results.ts';
import { median, quantile, spread } from '../../bench/harness/statistics.ts';
import { findScenario, SCENARIOS } from '../../bench/scenarios/index.ts';

function ledgerOf(starts: readonly number[], dones: readonly number[], jobs = 3): Ledger {
  const ledger = new Ledger(jobs);
  for (const n of starts) ledger.start(n);
  for (const n of dones) ledger.done(n);
  return ledger;
}

test('a ledger balances when every job was started and done once, in order', () => {
  expect(() => ledgerOf([0, 1, 2], [2, 0, 1]).verify()).not.toThrow();
});

test('a missing, doubled or reordered job is refused', () => {
  expect(() => ledgerOf([0, 1], [0, 1]).verify()).toThrow('Job 2 of 3 was started 0 times');
  expect(() => ledgerOf([0, 1, 1, 2], [0, 1, 2]).verify()).toThrow('Job 1 of 3 was started 2 times');
  expect(() => ledgerOf([0, 1, 2], [0, 0, 2]).verify()).toThrow('Job 0 of 3 was done 2 times');
  expect(() => ledgerOf([1, 0, 2], [0, 1, 2]).verify()).toThrow('job 0 was started after job 1');
  expect(() => ledgerOf([1, 0, 2], [0, 1, 2]).verify('any order')).not.toThrow();
});

test('median, quantile and spread are those of the values given', () => {
  expect(median([3, 1, 2])).toBe(2);
  expect(median([4, 1, 2, 3])).toBe(2.5);
  expect(quantile([5, 1, 4, 2, 3], 0.99)).toBe(5);
  expect(quantile([5, 1, 4, 2, 3], 0.5)).toBe(3);
  expect(spread([90, 100, 110])).toBeCloseTo(0.1);
});

test('a ratio is taken within each round before the median is', () => {
  const results = new Results();
  for (const [round, [own, other]] of [
    [200, 100],
    [20, 10],
    [3, 1],
  ].entries()) {
    results.add(round, 'millrace', { perSecond: own! });
    results.add(round, 'peer', { perSecond: other! });
  }
  expect(results.ahead('peer', 'perSecond')).toBe(2);
  expect(results.cheaper('peer', 'perSecond')).toBe(0.5);
  expect(results.ahead('absent', 'perSecond')).toBeUndefined();
});

test('only what is clearly worse is a regression', () => {
  const stored = { ratio: { plainjob: 2, bullmq: 2 }, growth: { '1m': 1 } };
  expect(regressions(stored, { ratio: { plainjob: 1.6 }, growth: { '1m': 1.2 } })).toEqual([]);
  const worse = regressions(stored, { ratio: { plainjob: 1.4 }, growth: { '1m': 1.3 } });
  expect(worse.map(({ key }) => key)).toEqual(['ratio plainjob', 'growth 1m']);
});

test('the command line refuses what it does not know, and fills in each scenario’s own counts', () => {
  expect(() => parse(['nonsense'])).toThrow('There is no scenario "nonsense"');
  expect(() => parse(['drain', '--jobs', 'many'])).toThrow('--jobs takes a whole number');
  expect(() => parse(['drain', '--fast'])).toThrow('--fast');
  expect(parse(['all']).scenarios).toEqual(SCENARIOS);
  const drain = findScenario('drain');
  expect(planFor(drain, parse(['drain']))).toMatchObject({ jobs: drain.jobs, rounds: 5, quick: false });
  expect(planFor(drain, parse(['drain', '--jobs', '5_000', '--quick']))).toMatchObject({ jobs: 5_000, rounds: 1 });
});

test('the last line of --json is one object, and progress stays off stdout', async () => {
  const args = ['--import', 'tsx', 'bench/run.ts', 'recovery', '--quick', '--json'];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args);
  const last = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  expect(Object.keys(last)).toEqual(
    expect.arrayContaining(['scenario', 'mode', 'jobs', 'millrace', 'peers', 'limit', 'ratio', 'growth']),
  );
  expect(stderr).toContain('recovery 1/1 millrace');
  expect(stdout).not.toContain('recovery 1/1');
}, 60_000);
