/** What every refusal has in common: an error of the right class that names the field, and an empty database. */
import { InvalidInputError, type JobQueue } from 'millrace';
import { expect } from 'vitest';

/** Values no whole number of at least `least` can be. */
export function notCounts(least: number): readonly (readonly [shown: string, value: unknown])[] {
  return [
    [`${least - 1}`, least - 1],
    ['-1', -1],
    ['1.5', 1.5],
    ['NaN', Number.NaN],
    ['Infinity', Number.POSITIVE_INFINITY],
    ['2 ** 53', 2 ** 53],
    ['"1"', '1'],
    ['5n', 5n],
    ['null', null],
    ['an object', {}],
  ];
}

/** Longer than one timer can wait: Node would make a millisecond of it. */
export const TOO_LONG_FOR_A_TIMER = [2 ** 31, 2 ** 32, Number.MAX_SAFE_INTEGER] as const;

/** Longer than a hundred years: added to the time now it could be no date any more. */
export const TOO_LONG_FOR_ANYBODY = [100 * 365 * 86_400_000 + 1, Number.MAX_SAFE_INTEGER] as const;

/** What a function or promise throws; fails the test if it throws nothing. */
export async function errorOf(work: (() => unknown) | Promise<unknown>): Promise<unknown> {
  try {
    await (typeof work === 'function' ? work() : work);
  } catch (error) {
    return error;
  }
  throw new Error('Nothing was refused.');
}

/** Refused as invalid input that names `field`. */
export async function expectInvalid(work: (() => unknown) | Promise<unknown>, field: string): Promise<void> {
  const error = await errorOf(work);
  expect(error).toBeInstanceOf(InvalidInputError);
  expect(error).toMatchObject({
    name: 'InvalidInputError',
    code: 'invalid_input',
    field,
    message: expect.stringContaining(field),
  });
}

export async function expectNothingStored(queue: Pick<JobQueue, 'stats'>): Promise<void> {
  expect(await queue.stats()).toEqual({ jobs: {}, pipelines: {}, running: 0 });
}
