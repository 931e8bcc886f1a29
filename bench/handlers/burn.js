/** A fixed amount of CPU work: the same number of steps is the same work for everybody, however busy the machine is. */
import { pbkdf2Sync } from 'node:crypto';

/**
 * In native code: a loop in JavaScript runs at several speeds, depending on what else the compiler has seen in that thread.
 *
 * @param {number} steps
 * @returns {number} depends on every step, so that none can be left out
 */
export function burn(steps) {
  return pbkdf2Sync('millrace', 'bench', steps, 16, 'sha256').readInt32LE(0);
}
