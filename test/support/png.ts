/** Reads a PNG as strictly as any viewer: every checksum must be right. */
import { crc32, inflateSync } from 'node:zlib';
import { expect } from 'vitest';

/** Answers with its size and its pixels as they were filtered, a filter byte before every row. */
export function readPng(file: Buffer): { width: number; height: number; rows: readonly Buffer[] } {
  expect(file.subarray(0, 8).toString('latin1')).toBe('\x89PNG\r\n\x1a\n');
  const chunks: { type: string; data: Buffer }[] = [];
  for (let at = 8; at < file.length; ) {
    const length = file.readUInt32BE(at);
    const body = file.subarray(at + 4, at + 8 + length);
    expect(file.readUInt32BE(at + 8 + length)).toBe(crc32(body));
    chunks.push({ type: body.toString('latin1', 0, 4), data: body.subarray(4) });
    at += 12 + length;
  }
  expect([chunks[0]?.type, chunks.at(-1)?.type]).toEqual(['IHDR', 'IEND']);
  const header = chunks[0]?.data ?? Buffer.alloc(13);
  const [width, height] = [header.readUInt32BE(0), header.readUInt32BE(4)];
  // Throws unless the stream is whole and its checksum right.
  const pixels = inflateSync(Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map(({ data }) => data)));
  const stride = width * 3 + 1;
  expect(pixels.length).toBe(height * stride);
  return {
    width,
    height,
    rows: Array.from({ length: height }, (_, y) => pixels.subarray(y * stride, (y + 1) * stride)),
  };
}
