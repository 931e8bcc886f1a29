/** Binary values on their way between threads: moved, not copied, wherever nobody else can see them. */
import type { Blob } from '../actors/blobs.ts';
import type { Task } from './messages.ts';

/**
 * A buffer can only be moved as a whole. A view of part of one (small Buffers share an 8 KiB pool) is copied into a buffer of
 * its own; so is the second view of the same buffer.
 */
export function ownBytes(blob: Blob, index: number, all: readonly Blob[]): Blob {
  const { bytes, kind } = blob;
  if (kind === 'SharedArrayBuffer') return blob;
  const shared = all.findIndex((other) => other.bytes.buffer === bytes.buffer) !== index;
  const whole = bytes.byteLength === bytes.buffer.byteLength;
  // A Buffer arrives as a plain Uint8Array anyway; here too, so that both sides see the same.
  if (whole && !shared)
    return bytes.constructor === Uint8Array ? blob : { ...blob, bytes: new Uint8Array(bytes.buffer) };
  return copied(blob);
}

export function copied(blob: Blob): Blob {
  return blob.kind === 'SharedArrayBuffer' ? blob : { ...blob, bytes: Uint8Array.from(blob.bytes) };
}

/** What to put on the list of things to be moved. Shared memory is not moved: both sides keep it. */
export function buffersOf(blobs: readonly Blob[]): ArrayBuffer[] {
  return blobs.flatMap(({ bytes }) => (bytes.buffer instanceof ArrayBuffer ? [bytes.buffer] : []));
}

export function bytesIn({ carried }: Pick<Task, 'carried'>): number {
  return carried?.blobs.reduce((sum, { bytes }) => sum + bytes.byteLength, 0) ?? 0;
}
