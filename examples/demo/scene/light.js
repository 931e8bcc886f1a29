/** From a ray to the light that comes back along it. */
import { along, clamp, dot, unit } from './arithmetic.js';
import { distance, FALL, materialAt } from './solids.js';
import { lamps, pigment } from './surfaces.js';

const SUN = unit([-0.8, 0.3, -0.42]);

/** How far along the ray the first solid thing is; Infinity if there is none. */
function march(o, d, limit) {
  let t = 0.02;
  for (let step = 0; step < 140 && t < limit; step++) {
    const y = o[1] + d[1] * t;
    if (y > 7.2 && d[1] > 0) return Number.POSITIVE_INFINITY;
    const near = distance(o[0] + d[0] * t, y, o[2] + d[2] * t);
    if (near < 0.0012 * t + 0.0006) return t;
    t += near * 0.9;
  }
  return Number.POSITIVE_INFINITY;
}

/** How much of the sun reaches a point: a ray that only just passes something lies in its half shadow. */
function sunlight(p) {
  let light = 1;
  for (let t = 0.05, step = 0; t < 9 && step < 48; step++) {
    const near = distance(p[0] + SUN[0] * t, p[1] + SUN[1] * t, p[2] + SUN[2] * t);
    if (near < 0.002) return 0;
    light = Math.min(light, (14 * near) / t);
    t += clamp(near, 0.03, 0.7);
  }
  return light;
}

function normalAt([x, y, z]) {
  const e = 0.0012;
  const a = distance(x + e, y - e, z - e);
  const b = distance(x - e, y - e, z + e);
  const c = distance(x - e, y + e, z - e);
  const d = distance(x + e, y + e, z + e);
  return unit([a - b - c + d, -a - b + c + d, -a + b - c + d]);
}

/** Corners see less of the sky. */
function openness(p, n) {
  let closed = 0;
  for (let i = 1; i <= 4; i++) {
    const h = 0.09 * i * i;
    closed += (h - Math.min(distance(p[0] + n[0] * h, p[1] + n[1] * h, p[2] + n[2] * h), h)) / (h * i * 1.6);
  }
  return clamp(1 - closed * 0.62);
}

function shade(p, d) {
  const what = materialAt(p);
  const n = normalAt(p);
  const base = pigment(p, n, what);
  const lamp = lamps(p, n, what);
  const out = [p[0] + n[0] * 0.01, p[1] + n[1] * 0.01, p[2] + n[2] * 0.01];
  const facing = dot(n, SUN);
  const sun = facing > 0 ? facing * sunlight(out) : 0;
  const open = openness(p, n);
  const above = 0.5 + 0.5 * n[1];
  const shine =
    what === FALL ? 0.35 + 0.5 * Math.max(dot(n, unit([SUN[0] - d[0], SUN[1] - d[1], SUN[2] - d[2]])), 0) ** 24 : 0;
  const sunColor = [1.75, 0.8, 0.34];
  const skyColor = [0.2, 0.235, 0.43];
  const bounce = [0.14, 0.09, 0.09];
  const lit = base.map(
    (c, i) => c * (sun * sunColor[i] + open * (above * skyColor[i] + (1 - above) * bounce[i])) + shine * skyColor[i],
  );
  return lit.map((c, i) => c + lamp * [3.4, 1.75, 0.5][i]);
}

/** What a ray sees that does not meet the water. */
export function dry(o, d, limit) {
  const t = march(o, d, limit);
  return t < limit ? shade(along(o, d, t), d) : null;
}
