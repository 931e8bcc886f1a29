/**
 * A PNG by hand. Its pixels are one deflate stream, but a deflate stream may be made in parts: each job compresses its own rows and ends
 * on a byte, and whoever has all the parts puts them in a row. So the slow half of writing a PNG is done by the jobs, too.
 */
import { constants, crc32, deflateRawSync } from 'node:zlib';

/** Compresses rows of RGB pixels; `adler` and `length` are what the whole needs to know of the part. */
export function encodeRows(pixels, width) {
  const stride = width * 3;
  const rows = pixels.length / stride;
  const filtered = new Uint8Array(rows * (stride + 1));
  for (let row = 0; row < rows; row++) {
    const from = row * stride;
    const to = row * (stride + 1);
    // Filter 1: every byte as its difference from the pixel to the left. Neighbours are alike, and small numbers compress well.
    filtered[to] = 1;
    for (let i = 0; i < stride; i++) filtered[to + 1 + i] = pixels[from + i] - (i < 3 ? 0 : pixels[from + i - 3]);
  }
  const deflated = deflateRawSync(filtered, { level: 9, finishFlush: constants.Z_FULL_FLUSH });
  return { deflated, adler: adler32(filtered), length: filtered.length };
}

/** The file, from the parts in order. */
export function pngOf(parts, width, height) {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8); // eight bits a channel, RGB
  const check = parts.map(({ adler, length }) => ({ adler, length })).reduce(joinAdler);
  const end = Buffer.alloc(6);
  end.set([3, 0]); // an empty last block, then the checksum
  end.writeUInt32BE(check.adler, 2);
  const begin = Buffer.from([0x78, 0xda]);
  const data = Buffer.concat([begin, ...parts.map(({ deflated }) => deflated), end]);
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}

function chunk(type, data) {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

const BASE = 65_521;

function adler32(bytes) {
  let a = 1;
  let b = 0;
  for (const byte of bytes) {
    a = (a + byte) % BASE;
    b = (b + a) % BASE;
  }
  return b * 65_536 + a;
}

/** The checksum of two parts together, from those of each. */
function joinAdler(first, second) {
  const [a1, b1] = [first.adler % 65_536, Math.floor(first.adler / 65_536)];
  const [a2, b2] = [second.adler % 65_536, Math.floor(second.adler / 65_536)];
  const a = (a1 + a2 + BASE - 1) % BASE;
  const b = (b1 + b2 + (second.length % BASE) * (a1 + BASE - 1)) % BASE;
  return { adler: b * 65_536 + a, length: first.length + second.length };
}
