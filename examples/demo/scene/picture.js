/** The water, the camera, and the one thing the rest of the demo wants to know: the colour of a pixel. */
import { along, clamp, cloudy, cross, dot, long2, mix, noise, smooth, unit } from './arithmetic.js';
import { dry } from './light.js';
import { sky } from './sky.js';
import { distance, WHEEL } from './solids.js';

/** Ripples: some everywhere, rings around the wheel's foot, calm in the distance. */
function ripples(x, z, far) {
  const fade = 1 / (1 + far * far * 0.004);
  const fx = x - WHEEL.x - WHEEL.radius - 0.4;
  const r = long2(fx, z) + 0.2;
  const ring = (Math.sin(r * 8.5) * 0.05) / (0.5 + r * 0.75);
  const a = Math.cos(x * 1.3 + z * 3.7 + 2 * noise(x * 0.6, z * 0.9)) * 0.022 + Math.cos(x * 4.1 - z * 6.3) * 0.012;
  const b = Math.cos(z * 5.1 + x * 0.7 + 3 * noise(x * 0.5 + 9, z)) * 0.03 + (noise(x * 7, z * 12) - 0.5) * 0.05;
  return unit([(a + (ring * fx) / r) * fade, 1, (b + (ring * z) / r) * fade]);
}

function wet(o, d, t) {
  const p = along(o, d, t);
  const n = ripples(p[0], p[2], t);
  const k = 2 * dot(d, n);
  const r = unit([d[0] - k * n[0], Math.max(d[1] - k * n[1], 0.004), d[2] - k * n[2]]);
  const mirrored = dry(p, r, 30) ?? sky(r);
  const fresnel = 0.05 + 0.95 * (1 - clamp(-dot(d, n))) ** 4;
  const deep = [0.018, 0.034, 0.05];
  const x = p[0] - WHEEL.x - WHEEL.radius - 0.35;
  const splash =
    Math.exp(-(x * x * 1.7 + p[2] * p[2] * 1.4)) * 1.25 + Math.exp(-Math.abs(distance(p[0], 0, p[2])) * 7) * 0.3;
  const foam = smooth(0.42, 1.0, splash * (0.45 + cloudy(p[0] * 6, p[2] * 9)));
  return mirrored.map((c, i) =>
    mix(mix(deep[i], c * 0.92, clamp(fresnel * 0.82 + 0.12)), [0.6, 0.62, 0.7][i], foam * 0.75),
  );
}

const EYE = [-0.55, 1.55, -9.6];
const FORWARD = unit([0.13, 0.098, 1]);
const RIGHT = unit([FORWARD[2], 0, -FORWARD[0]]);
const UP = cross(FORWARD, RIGHT);

/** The light that arrives from a point of the picture; `x` from -1 to 1, `y` in the same measure, upwards. */
function trace(x, y) {
  const d = unit([0, 1, 2].map((i) => FORWARD[i] * 1.42 + RIGHT[i] * x + UP[i] * y));
  const toWater = d[1] < 0 ? -EYE[1] / d[1] : Number.POSITIVE_INFINITY;
  const solid = dry(EYE, d, Math.min(toWater, 40));
  if (solid) return solid;
  if (toWater > 160) return sky([d[0], Math.max(d[1], 0), d[2]]);
  const color = wet(EYE, d, toWater);
  // Mist lies on the water far away.
  const mist = smooth(14, 120, toWater);
  const horizon = sky([d[0], 0.012, d[2]]);
  return color.map((c, i) => mix(c, horizon[i], mist * 0.85));
}

/** The picture's colour at a pixel, as three bytes: four rays, brought from light to what a screen shows. */
export function colorOf(column, row, width, height) {
  const sum = [0, 0, 0];
  for (const [dx, dy] of RAYS) {
    const x = (2 * (column + dx)) / width - 1;
    const y = (height - 2 * (row + dy)) / width;
    const light = trace(x, y);
    const vignette = 1 - 0.24 * (x * x + y * y * 1.8);
    for (let i = 0; i < 3; i++) sum[i] += screen(light[i] * vignette);
  }
  return sum.map((c) => Math.round((c / RAYS.length) * 255));
}
const RAYS = [
  [0.125, 0.375],
  [0.375, 0.875],
  [0.625, 0.125],
  [0.875, 0.625],
];

/** Film does this too: bright light is compressed, not cut off. */
function screen(light) {
  const c = light * 1.06;
  const film = (c * (2.51 * c + 0.03)) / (c * (2.43 * c + 0.59) + 0.14);
  return clamp(film) ** (1 / 2.2);
}
