/** Every scenario in its quick form, without peers, so that none rots. No number is looked at: a test must not depend on speed. */
import { expect, test } from 'vitest';
import { toJson, toText } from '../../bench/harness/report.ts';
import { runScenario } from '../../bench/harness/runner.ts';
import { SCENARIOS } from '../../bench/scenarios/index.ts';

test.each(SCENARIOS.map((scenario) => [scenario.name, scenario] as const))(
  'the scenario %s runs, verifies its jobs and reports finite numbers',
  async (name, scenario) => {
    const plan = { jobs: scenario.quickJobs, rounds: 1, quick: true, peers: false };
    const outcome = await runScenario(scenario, plan, () => {});

    expect(outcome.refused).toEqual({});
    expect(toText(outcome)).toContain(scenario.mode);
    const json = toJson(outcome);
    expect(json).toMatchObject({ scenario: name, mode: scenario.mode, jobs: scenario.quickJobs });
    // A scenario that needs a feature this build does not have says so; otherwise Millrace has taken part.
    const ran = Object.keys(json.millrace).length > 0;
    expect(ran || Object.keys(json.skipped).some((entry) => entry.startsWith('millrace'))).toBe(true);
  },
  120_000,
);
