/**
 * What may be stored: JSON, and nothing that JSON would silently turn into something else. An undefined
 * property of an object is left out, as JSON does; everything else that would be lost is refused by its path.
 */

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

/** @param above the objects that contain `value`, outermost first */
function check(value: unknown, path: string, above: object[]): void {
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
  if (!isPlain(value)) throw new NotJsonError(path, describe(value));
  above.push(value);
  if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) check(value[i], `${path}[${i}]`, above);
  } else {
    for (const [key, inner] of Object.entries(value)) if (inner !== undefined) check(inner, `${path}.${key}`, above);
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
