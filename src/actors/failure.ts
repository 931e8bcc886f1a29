/** Errors as data: what a handler threw becomes a `Failure` that can be stored and shown. Nothing a handler throws may throw again here. */
import type { Failure } from './vocabulary.ts';

const KNOWN = new Set(['name', 'message', 'stack', 'code', 'cause']);
const MAX_DEPTH = 5;
const MAX_TEXT = 8_192;
const MAX_NAME = 256;
/** Of all own fields together, as JSON. */
const MAX_DATA = 65_536;

/** Describes anything that can be thrown. Never throws itself. */
export function toFailure(thrown: unknown, depth = 0): Failure {
  if (!isError(thrown)) return { name: 'NonError', message: `A handler threw ${typeof thrown}: ${showThrown(thrown)}` };
  const code = read(thrown, 'code');
  const stack = read(thrown, 'stack');
  const cause = depth < MAX_DEPTH ? read(thrown, 'cause') : undefined;
  const data = ownData(thrown);
  return {
    name: textOf(read(thrown, 'name'), 'Error').slice(0, MAX_NAME),
    message: textOf(read(thrown, 'message'), '(the message of the error could not be read)').slice(0, MAX_TEXT),
    ...(typeof code === 'string' || typeof code === 'number' ? { code: String(code).slice(0, MAX_NAME) } : {}),
    ...(typeof stack === 'string' ? { stack: stack.slice(0, MAX_TEXT) } : {}),
    ...(cause === undefined ? {} : { cause: toFailure(cause, depth + 1) }),
    ...(data ? { data } : {}),
  };
}

/** The error again, with name, code, cause and fields as they were, for those who want to look at one. */
export function toError({ name, message, code, stack, cause, data }: Failure): Error {
  const error = new Error(message, cause ? { cause: toError(cause) } : undefined);
  const known = { name, stack: stack ?? `${name}: ${message}`, ...(code === undefined ? {} : { code }) };
  for (const [key, value] of Object.entries(known)) {
    Object.defineProperty(error, key, { value, writable: true, configurable: true });
  }
  return Object.assign(error, data);
}

/** Something thrown, in a few words. Never throws. */
export function showThrown(value: unknown): string {
  try {
    return String(typeof value === 'object' ? (JSON.stringify(value) ?? value) : value).slice(0, MAX_TEXT);
  } catch {
    return attempt(() => Object.prototype.toString.call(value)) ?? '(it cannot be shown)';
  }
}

function isError(thrown: unknown): thrown is Error {
  return attempt(() => thrown instanceof Error) ?? false;
}

/** Fields may be getters of somebody else's making. */
function read(error: Error, key: string): unknown {
  return attempt(() => (error as unknown as Record<string, unknown>)[key]);
}

function textOf(value: unknown, otherwise: string): string {
  return value === undefined ? otherwise : (attempt(() => String(value)) ?? otherwise);
}

/** The error's own fields, each as JSON has it; fields JSON cannot hold, or that are too large, are left out. */
function ownData(error: Error): Record<string, unknown> | undefined {
  const data: Record<string, unknown> = {};
  let room = MAX_DATA;
  for (const key of attempt(() => Object.keys(error)) ?? []) {
    if (KNOWN.has(key)) continue;
    const text = attempt(() => JSON.stringify(read(error, key)));
    if (text === undefined || key.length + text.length > room) continue;
    room -= key.length + text.length;
    data[key] = JSON.parse(text);
  }
  return Object.keys(data).length > 0 ? data : undefined;
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
