/** Is a run clearly worse than the stored one? */
import type { Conclusion } from './scenario.ts';

/** Ratios and growths of an earlier run. */
export interface Stored {
  readonly ratio?: Readonly<Record<string, number>>;
  readonly growth?: Readonly<Record<string, number>>;
}

export interface Regression {
  readonly key: string;
  readonly text: string;
}

/** Interleaved ratios of quiet runs differ by a tenth; a quarter is no accident. */
const TOLERANCE = 0.25;

/** What is clearly worse. Contenders that did not run this time are not compared. */
export function regressions(stored: Stored, now: Conclusion): readonly Regression[] {
  const worse: Regression[] = [];
  for (const [key, before] of Object.entries(stored.ratio ?? {})) {
    const found = now.ratio?.[key];
    if (found !== undefined && found < before * (1 - TOLERANCE)) worse.push(told(`ratio ${key}`, before, found));
  }
  for (const [key, before] of Object.entries(stored.growth ?? {})) {
    const found = now.growth?.[key];
    if (found !== undefined && found > before * (1 + TOLERANCE)) worse.push(told(`growth ${key}`, before, found));
  }
  return worse;
}

function told(key: string, before: number, found: number): Regression {
  return { key, text: `${key} was ${before.toFixed(2)}, is ${found.toFixed(2)}` };
}
