/** Small arithmetic: vectors are arrays of three numbers; `mix`, `smooth` and noise are what pictures are made of. */

// Math.hypot would be shorter to write and several times slower to run.
export const long2 = (x, y) => Math.sqrt(x * x + y * y);
export const long3 = (x, y, z) => Math.sqrt(x * x + y * y + z * z);

export const mix = (a, b, t) => a + (b - a) * t;
export const clamp = (x, low = 0, high = 1) => Math.min(Math.max(x, low), high);
export const smooth = (low, high, x) => {
  const t = clamp((x - low) / (high - low));
  return t * t * (3 - 2 * t);
};

export function along(o, d, t) {
  return [o[0] + d[0] * t, o[1] + d[1] * t, o[2] + d[2] * t];
}
export function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
export function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}
export function unit(v) {
  const length = long3(v[0], v[1], v[2]);
  return [v[0] / length, v[1] / length, v[2] / length];
}

export const hash = (x, y) => {
  const s = Math.sin(x * 127.1 + y * 311.7) * 43758.5453;
  return s - Math.floor(s);
};
export function noise(x, y) {
  const ix = Math.floor(x);
  const iy = Math.floor(y);
  const u = smooth(0, 1, x - ix);
  const v = smooth(0, 1, y - iy);
  return mix(mix(hash(ix, iy), hash(ix + 1, iy), u), mix(hash(ix, iy + 1), hash(ix + 1, iy + 1), u), v);
}
export const cloudy = (x, y) =>
  noise(x, y) * 0.5 +
  noise(x * 2.1 + 7, y * 2.1) * 0.27 +
  noise(x * 4.3, y * 4.3 + 3) * 0.15 +
  noise(x * 9, y * 9) * 0.08;
