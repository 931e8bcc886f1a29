/** A fixed amount of CPU work: the same number of steps is the same work for everybody, however busy the machine is. */

/**
 * @param {number} steps
 * @returns {number} depends on every step, so that none can be left out
 */
export function burn(steps) {
  let hash = 2166136261;
  for (let step = 0; step < steps; step++) {
    hash = Math.imul(hash ^ (step & 255), 16777619);
    hash ^= hash >>> 13;
  }
  return hash;
}
