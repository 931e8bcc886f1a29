/** Binary values within results: found and replaced by references on the way to the store, put back on the way to a handler. */
import type { BlobRef } from './vocabulary.ts';

/** One binary value of a result, and where in the result it belongs. */
export interface Blob {
  /** Keys and indexes from the result down to the value; empty if the result is the value. */
  readonly path: readonly (string | number)[];
  readonly kind: BlobRef['blob'];
  /** For a SharedArrayBuffer, a view of the shared memory. */
  readonly bytes: Uint8Array;
}

/** Is this a value that is kept as a blob? Other views are refused by name: their element size would be lost. */
export function isBinary(value: unknown): value is Uint8Array | ArrayBufferLike {
  return kindOf(value) !== undefined;
}

export function kindOf(value: unknown): BlobRef['blob'] | undefined {
  if (value instanceof Uint8Array)
    return value.buffer instanceof SharedArrayBuffer ? 'SharedArrayBuffer' : 'Uint8Array';
  if (value instanceof ArrayBuffer) return 'ArrayBuffer';
  return value instanceof SharedArrayBuffer ? 'SharedArrayBuffer' : undefined;
}

/** What stands in the stored JSON for a binary value. */
export function refOf(value: Uint8Array | ArrayBufferLike): BlobRef {
  return { blob: kindOf(value) ?? 'Uint8Array', bytes: value.byteLength };
}

/** The value with its bytes put back. Copies the containers on the way to a blob, never the bytes. */
export function withBlobs(value: unknown, blobs: readonly Blob[]): unknown {
  if (blobs.length === 0) return value;
  const root = { value: structuredClone(value) };
  for (const blob of blobs) place(root as Container, ['value', ...blob.path], restored(blob));
  return root.value;
}

type Container = Record<string | number, unknown>;

function place(root: Container, path: readonly (string | number)[], value: unknown): void {
  let at = root;
  for (const key of path.slice(0, -1)) at = at[key] as Container;
  // Defined, not assigned: a key may be "__proto__".
  Object.defineProperty(at, path.at(-1) ?? '', { value, writable: true, enumerable: true, configurable: true });
}

/** As the handler returned it. A Buffer comes back as the Uint8Array it is. */
function restored({ kind, bytes }: Blob): unknown {
  if (kind === 'Uint8Array') return bytes;
  const whole = bytes.byteLength === bytes.buffer.byteLength;
  return whole ? bytes.buffer : bytes.slice().buffer;
}
