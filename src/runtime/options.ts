/** Checks at the door: each says which field is wrong and what would be right. */
import type { Backoff } from '../actors/backoff.ts';
import { LONGEST_TIMER_MS } from './clock.ts';
import { InvalidInputError } from './errors.ts';

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,63}$/;

/** Names become state keys, object keys and parts of URLs. */
export function requireName(name: unknown, field: string): asserts name is string {
  if (typeof name !== 'string' || !NAME.test(name)) {
    throw new InvalidInputError(
      field,
      `${show(name)} cannot be a name; use a letter followed by letters, digits, "-" or "_", 64 at most.`,
    );
  }
  if (name in Object.prototype) throw new InvalidInputError(field, `"${name}" is reserved; choose another name.`);
}

/** A whole number of at least `least` and at most `most`, or undefined. */
export function requireCount(value: unknown, field: string, least: number, most = Number.MAX_SAFE_INTEGER): void {
  if (value === undefined) return;
  const range = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `from ${least} to ${most}`;
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < least || value > most) {
    throw new InvalidInputError(field, `is ${show(value)}, but must be a whole number ${range}.`);
  }
}

/**
 * The longest wait that may be asked for, a hundred years: added to any date of ours it is still a date, and a number that
 * SQLite and JavaScript both hold exactly.
 */
export const LONGEST_WAIT_MS = 100 * 365 * 24 * 3_600_000;

/** Milliseconds that are waited for by the clock, which makes long waits of pieces, or that are added to a stored time; or undefined. */
export function requireWait(value: unknown, field: string, least: number): void {
  requireCount(value, field, least, LONGEST_WAIT_MS);
}

/** Milliseconds that one timer of Node's (or SQLite's) waits for, none of which can wait longer than 24 days; or undefined. */
export function requireTimer(value: unknown, field: string, least: number): void {
  requireCount(value, field, least, LONGEST_TIMER_MS);
}

/** The last moment a `Date` can hold. */
export const END_OF_TIME = 8.64e15;

/** A date or a number of milliseconds since the epoch; answers in milliseconds. */
export function requireTime(value: unknown, field: string): number {
  const time = value instanceof Date ? value.getTime() : value;
  if (typeof time !== 'number' || !Number.isFinite(time) || Math.abs(time) > END_OF_TIME) {
    throw new InvalidInputError(field, `is ${show(value)}, but must be a valid Date or milliseconds since the epoch.`);
  }
  return Math.round(time);
}

/** A plain object without unknown keys: a misspelt option is a mistake, not a wish to be ignored. */
export function requireOptions(options: unknown, field: string, known: readonly string[]): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options)) {
    throw new InvalidInputError(field, `is ${show(options)}, but must be an object of options.`);
  }
  for (const key of Object.keys(options)) {
    if (!known.includes(key)) {
      throw new InvalidInputError(`${field}.${key}`, `is not an option here; known are ${known.join(', ')}.`);
    }
  }
}

/** One of a few words, or undefined. */
export function requireOneOf(value: unknown, field: string, words: readonly string[]): void {
  if (value === undefined || (typeof value === 'string' && words.includes(value))) return;
  throw new InvalidInputError(
    field,
    `is ${show(value)}, but must be one of ${words.map((word) => `"${word}"`).join(', ')}.`,
  );
}

/** A string, `null` or undefined. */
export function requireText(value: unknown, field: string): void {
  if (value === undefined || value === null || typeof value === 'string') return;
  throw new InvalidInputError(field, `is ${show(value)}, but must be a string.`);
}

/** `true`, `false` or undefined. */
export function requireBoolean(value: unknown, field: string): void {
  if (value === undefined || typeof value === 'boolean') return;
  throw new InvalidInputError(field, `is ${show(value)}, but must be true or false.`);
}

/** A function, or undefined. */
export function requireFunction(value: unknown, field: string): void {
  if (value === undefined || typeof value === 'function') return;
  throw new InvalidInputError(field, `is ${show(value)}, but must be a function.`);
}

/** A {@link Backoff}, or undefined. */
export function requireBackoff(backoff: Backoff | undefined, field: string): void {
  if (backoff === undefined) return;
  requireOptions(backoff, field, ['type', 'baseMs', 'maxMs', 'jitter']);
  if (!['fixed', 'linear', 'exponential'].includes(backoff.type)) {
    throw new InvalidInputError(`${field}.type`, 'is "fixed", "linear" or "exponential".');
  }
  requireWait(backoff.baseMs ?? Number.NaN, `${field}.baseMs`, 0);
  requireWait(backoff.maxMs, `${field}.maxMs`, 0);
  const { jitter = 0 } = backoff;
  if (typeof jitter !== 'number' || !(jitter >= 0 && jitter <= 1)) {
    throw new InvalidInputError(`${field}.jitter`, 'is a share from 0 to 1.');
  }
}

/** A wrong value as the error message names it. */
export function show(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : 'a Date';
  return typeof value === 'object' && value !== null
    ? Array.isArray(value)
      ? 'an array'
      : 'an object'
    : String(value);
}

/** A job's id, as `enqueue` gave it. */
export function requireJobId(id: unknown): string {
  if (typeof id !== 'string' || id === '') throw new InvalidInputError('id', "must be a job's id, a non-empty string.");
  return id;
}
