/** Ids for jobs: UUID version 7, so that ids made later sort later and index pages stay warm. */
import { randomFillSync } from 'node:crypto';

const POOL = Buffer.alloc(10 * 256);
let offset = POOL.length;

/** A fresh id for a job born at `now`. */
export function newJobId(now: number): string {
  if (offset === POOL.length) {
    randomFillSync(POOL);
    offset = 0;
  }
  const time = now.toString(16).padStart(12, '0');
  const random = POOL.toString('hex', offset, offset + 10);
  offset += 10;
  const variant = ((Number.parseInt(random.slice(3, 4), 16) & 0x3) | 0x8).toString(16);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(0, 3)}-${variant}${random.slice(4, 7)}-${random.slice(7, 19)}`;
}
