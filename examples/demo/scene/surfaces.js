/** What surfaces look like before any light falls on them, and the lamps behind the windows. */
import { cloudy, hash, long2, noise, smooth } from './arithmetic.js';
import { HOUSE, PLASTER, ROOF, STONE, WOOD } from './solids.js';

/** The colour of a surface before any light falls on it. */
export function pigment(p, n, what) {
  const [x, y, z] = p;
  if (what === WOOD) {
    const grain = 0.75 + 0.5 * noise(x * 3 + z * 9, y * 13 + x * 2);
    const wet = smooth(1.1, 0.1, y) * 0.45;
    return [0.36, 0.215, 0.12].map((c) => c * grain * (1 - wet));
  }
  if (what === PLASTER) {
    const hx = x - HOUSE.x;
    const hz = z - HOUSE.z;
    const beam = Math.min(
      Math.abs(y - 2.05),
      Math.abs(y - 3.45),
      Math.abs(Math.abs(hx) - HOUSE.width + 0.1),
      Math.abs(Math.abs(hz) - HOUSE.depth + 0.1) + Math.abs(n[2]) * 9,
      Math.abs(Math.abs(hx) - 0.75 - Math.abs(y - 2.75) * 0.3) + (y < 2.05 ? 9 : 0),
    );
    if (beam < 0.09) return [0.17, 0.1, 0.06];
    const stain = 0.8 + 0.3 * cloudy(x * 1.7 + z, y * 2.3);
    return [0.5, 0.43, 0.35].map((c) => c * stain);
  }
  if (what === ROOF) {
    const tile = 0.6 + 0.6 * hash(Math.floor(x * 5 + Math.floor(y * 6) * 0.5), Math.floor(y * 6));
    return [0.33, 0.13, 0.09].map((c) => c * tile);
  }
  if (what === STONE) {
    const stone =
      0.5 + 0.7 * hash(Math.floor(x * 2.4 + Math.floor(y * 4) * 0.37), Math.floor(y * 4) + Math.floor(z * 2.4));
    return [0.25, 0.24, 0.25].map((c) => c * stone);
  }
  const streak = 0.65 + 0.6 * noise(z * 26, y * 1.6 + x * 2.5);
  return [0.62, 0.72, 0.82].map((c) => c * streak);
}

/** Lamplight behind the windows, and a lantern over the door. */
export function lamps(p, n, what) {
  if (what !== PLASTER || n[2] > -0.5) return 0;
  const hx = p[0] - HOUSE.x;
  const y = p[1];
  const pane = (cx, cy, w, h) => {
    const fx = hx - cx;
    const fy = y - cy;
    if (Math.abs(fx) > w || Math.abs(fy) > h) return 0;
    const bars = Math.min(Math.abs(fx), Math.abs(fy), w - Math.abs(fx), h - Math.abs(fy));
    return bars < 0.028 ? 0.06 : 1 - 0.35 * long2(fx / w, (fy + h * 0.4) / h);
  };
  return (
    pane(-1.45, 2.75, 0.27, 0.36) +
    pane(0, 2.75, 0.27, 0.36) +
    pane(1.45, 2.75, 0.27, 0.36) +
    pane(-1.1, 1.5, 0.3, 0.33) +
    pane(1.1, 1.5, 0.3, 0.33)
  );
}
