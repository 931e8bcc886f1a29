/** How many steps of bench/handlers/burn.js take a millisecond here. Found once per run and then the same for everybody. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { burn } from '../handlers/burn.js';
import type { Trial } from './scenario.ts';
import { median } from './statistics.ts';

const STEPS = 2_000;

export function stepsPerMs(trial: Trial): number {
  const file = join(trial.shared, 'calibration.json');
  if (existsSync(file)) return Number(readFileSync(file, 'utf8'));
  const times: number[] = [];
  // The first runs find nothing in the caches and are not counted.
  for (let run = 0; run < 30; run++) {
    const began = performance.now();
    burn(STEPS);
    if (run >= 10) times.push(performance.now() - began);
  }
  const steps = Math.round(STEPS / median(times));
  writeFileSync(file, String(steps));
  return steps;
}
