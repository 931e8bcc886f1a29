/** The sky at dusk. */
import { clamp, cloudy, hash, mix, noise, smooth, unit } from './arithmetic.js';

const MOON = unit([0.17, 0.4, 0.9]);

/** Dusk: an orange rim, rose and blue above it, thin clouds, a few stars, a moon, and two ranges of wooded hills. */
export function sky(d) {
  const [x, y, z] = d;
  const up = Math.max(y, 0);
  const azimuth = Math.atan2(x, z);
  const glow = Math.exp(-((azimuth + 0.55) ** 2) * 1.1);
  const low = [mix(0.62, 1.3, glow), mix(0.3, 0.52, glow), mix(0.32, 0.2, glow)];
  const middle = [0.27, 0.17, 0.34];
  const high = [0.022, 0.045, 0.15];
  const toMiddle = smooth(0.0, 0.22, up);
  const toHigh = smooth(0.12, 0.62, up);
  const color = [0, 1, 2].map((i) => mix(mix(low[i], middle[i], toMiddle), high[i], toHigh));
  const band =
    smooth(0.5, 0.82, cloudy(azimuth * 3.2 + 4, y * 17 + azimuth)) * smooth(0.02, 0.12, up) * smooth(0.6, 0.25, up);
  for (let i = 0; i < 3; i++) color[i] = mix(color[i], [0.95, 0.36, 0.3][i], band * 0.5);
  const cellX = Math.floor(azimuth * 95);
  const cellY = Math.floor(y * 95);
  const star = hash(cellX, cellY);
  if (star > 0.985) {
    const fx = azimuth * 95 - cellX - 0.5;
    const fy = y * 95 - cellY - 0.5;
    const light = Math.exp(-(fx * fx + fy * fy) * 26) * smooth(0.2, 0.5, up) * (star - 0.985) * 90;
    for (let i = 0; i < 3; i++) color[i] += light;
  }
  const toMoon = Math.acos(clamp(x * MOON[0] + y * MOON[1] + z * MOON[2], -1, 1));
  const disc = smooth(0.036, 0.033, toMoon);
  const halo = Math.exp(-toMoon * 13) * 0.32;
  const seas = 0.8 + 0.3 * noise((azimuth - 0.4) * 70, y * 70);
  for (let i = 0; i < 3; i++) color[i] += disc * [1.25, 1.12, 0.92][i] * seas + halo * [0.9, 0.75, 0.7][i];
  return hills(color, azimuth, y, glow);
}

function hills(color, azimuth, y, glow) {
  const far = 0.085 + 0.035 * Math.sin(azimuth * 3.1 + 1) + 0.02 * Math.sin(azimuth * 7.7);
  const trees =
    Math.abs(((azimuth * 46 + noise(azimuth * 30, 1) * 1.4) % 1) - 0.5) * (0.012 + 0.022 * noise(azimuth * 21, 4));
  const near = 0.042 + 0.018 * Math.sin(azimuth * 4.3 + 4) + trees;
  const behind = smooth(far + 0.0015, far - 0.0015, y);
  const before = smooth(near + 0.0012, near - 0.0012, y);
  const mist = smooth(0.05, 0.0, y);
  const blue = [0.2 + 0.24 * glow, 0.16 + 0.09 * glow, 0.25];
  const dark = [0.045, 0.045, 0.075];
  return color.map((c, i) => mix(mix(c, blue[i], behind * 0.9), mix(dark[i], blue[i], mist * 0.45), before));
}
