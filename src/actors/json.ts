/**
 * What may be stored: JSON, and nothing that JSON would silently turn into something else. An undefined
 * property of an object is left out, as JSON does; everything else that would be lost is refused by its path.
 */

import { type Blob, isBinary, kindOf, refOf } from './blobs.ts';
import { InvalidInputError } from './errors.ts';

/** A value that cannot be stored. `path` leads to it, `problem` says what is wrong and what to do. */
export class NotJsonError extends Error {
  override readonly name = 'NotJsonError';
  readonly path: string;
  readonly problem: string;

  constructor(path: string, problem: string) {
    super(`${path} ${problem}`);
    this.path = path;
    this.problem = problem;
  }
}

const REMEDIES: Readonly<Record<string, string>> = {
  bigint: 'is a BigInt, which JSON cannot hold; pass a string or a number',
  function: 'is a function, which cannot be stored; pass data only',
  symbol: 'is a symbol, which cannot be stored; pass a string',
  undefined: 'is undefined, which JSON cannot hold here; pass null',
};

/** Far deeper than data written by people, far from where the stack ends. */
const DEEPEST = 500;

/**
 * Answers with a copy of `value` as it will be read back, so that nobody can change it meanwhile. Throws {@link NotJsonError}
 * unless it survives JSON unchanged and is at most `maxBytes` long as such.
 */
export function requireJson(value: unknown, path: string, maxBytes: number): unknown {
  check(value, path, []);
  return finish(value, path, maxBytes);
}

/** The same at the door, where the error is an argument's. */
export function requireStorable(value: unknown, field: string, maxBytes: number): unknown {
  try {
    return requireJson(value, field, maxBytes);
  } catch (error) {
    if (error instanceof NotJsonError) throw new InvalidInputError(error.path, `${error.problem}.`, { cause: error });
    throw error;
  }
}

function finish(value: unknown, path: string, maxBytes: number): unknown {
  const text = JSON.stringify(value);
  // A UTF-16 unit is at most three bytes: most values are short enough without counting.
  if (text.length * 3 > maxBytes) requireLength(text, path, maxBytes);
  return typeof value === 'object' ? JSON.parse(text) : value;
}

function requireLength(text: string, path: string, maxBytes: number): void {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes) return;
  throw new NotJsonError(
    path,
    `is ${bytes} bytes of JSON, more than maxPayloadBytes (${maxBytes}); store it elsewhere and pass a reference, or raise the limit`,
  );
}

/** What binary values of a result may be. */
export interface BlobRules {
  readonly maxBlobBytes: number;
  /** Takes SharedArrayBuffers, which are handed on but not stored. */
  readonly shared: boolean;
}

/** Like {@link requireJson} for a value that may hold binary ones: answers with the JSON, references in their places, and the blobs. */
export function requireJsonWithBlobs(value: unknown, path: string, maxBytes: number, rules: BlobRules) {
  const blobs: Blob[] = [];
  let total = 0;
  const collect: Collect = (keys, binary, at) => {
    const kind = kindOf(binary);
    if (kind === undefined) return false;
    if (kind === 'SharedArrayBuffer' && !rules.shared) {
      throw new NotJsonError(
        at,
        "is a SharedArrayBuffer, which cannot be stored; copy it, or set the phase's option shared",
      );
    }
    const view = binary instanceof Uint8Array ? binary : new Uint8Array(binary as ArrayBuffer);
    total += view.byteLength;
    if (total > rules.maxBlobBytes) {
      throw new NotJsonError(
        at,
        `brings the binary values to ${total} bytes, more than maxBlobBytes (${rules.maxBlobBytes}); store them elsewhere and return a reference, or raise the limit`,
      );
    }
    blobs.push({ path: keys, kind, bytes: view });
    return true;
  };
  check(value, path, [], collect);
  if (blobs.length === 0) return { value: finish(value, path, maxBytes), blobs };
  const text = JSON.stringify(value, replaceBinary);
  if (text.length * 3 > maxBytes) requireLength(text, path, maxBytes);
  return { value: JSON.parse(text) as unknown, blobs };
}

/** A Buffer's own toJSON has run by now, so the holder is asked for the value itself. */
function replaceBinary(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const raw = this[key];
  return isBinary(raw) ? refOf(raw) : value;
}

/** Takes a binary value if it may be one; answers whether it did. */
type Collect = (keys: readonly (string | number)[], value: object, path: string) => boolean;

/** @param above the objects that contain `value`, outermost first */
function check(
  value: unknown,
  path: string,
  above: object[],
  collect?: Collect,
  keys: readonly (string | number)[] = [],
): void {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return;
  if (typeof value === 'number') {
    if (Number.isFinite(value)) return;
    throw new NotJsonError(path, `is ${value}, which JSON cannot hold; pass null or a string`);
  }
  if (typeof value !== 'object') throw new NotJsonError(path, REMEDIES[typeof value] ?? 'cannot be stored');
  if (above.includes(value)) {
    throw new NotJsonError(path, 'refers back to an object that contains it; JSON cannot hold cycles');
  }
  if (above.length === DEEPEST) throw new NotJsonError(path, `is nested more than ${DEEPEST} levels deep; flatten it`);
  if (collect?.(keys, value, path)) return;
  if (!isPlain(value)) throw new NotJsonError(path, describe(value));
  above.push(value);
  // Keys are only kept where somebody wants to find the way back.
  const below = (key: string | number) => (collect ? [...keys, key] : keys);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) check(value[i], `${path}[${i}]`, above, collect, below(i));
  } else {
    for (const [key, inner] of Object.entries(value)) {
      if (inner !== undefined) check(inner, `${path}.${key}`, above, collect, below(key));
    }
  }
  above.pop();
}

function isPlain(value: object): boolean {
  if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return false;
  if (Array.isArray(value)) return true;
  const prototype: unknown = Object.getPrototypeOf(value);
  // Plain objects of another realm (a vm context, a test runner) have a prototype of their own.
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

function describe(value: object): string {
  if (value instanceof Date) return 'is a Date, which would come back as a string; pass toISOString() or getTime()';
  const name = value.constructor?.name ?? 'object';
  return `is a ${name}, which would not come back as one; pass plain objects, arrays, strings, numbers, booleans and null`;
}
