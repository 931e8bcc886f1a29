/**
 * The solid things, as distance functions: how far is a point from the nearest surface? A ray may safely walk that far, again and
 * again, until it arrives.
 */
import { clamp, long2, long3 } from './arithmetic.js';

const box = (x, y, z, w, h, d) => {
  const a = Math.abs(x) - w;
  const b = Math.abs(y) - h;
  const c = Math.abs(z) - d;
  return long3(Math.max(a, 0), Math.max(b, 0), Math.max(c, 0)) + Math.min(Math.max(a, b, c), 0);
};
const box2 = (x, y, w, h) => {
  const a = Math.abs(x) - w;
  const b = Math.abs(y) - h;
  return long2(Math.max(a, 0), Math.max(b, 0)) + Math.min(Math.max(a, b), 0);
};

export const WHEEL = { x: -1.1, y: 2.2, z: 0, radius: 2.35 };

// Materials, by number.
export const WOOD = 1;
export const PLASTER = 2;
export const ROOF = 3;
export const FALL = 4;
export const STONE = 5;

/** Rims, paddles, spokes and hub. What repeats around the axle is folded into one sector first. */
function wheel(x, y, z) {
  const r = long2(x, y);
  const { radius } = WHEEL;
  const far = Math.max(r - radius - 0.5, Math.abs(z) - 1.6);
  if (far > 0.6) return far;
  const side = Math.abs(z) - 0.6;
  const angle = Math.atan2(y, x) + 0.11;
  const rim = Math.min(box2(r - radius, side, 0.15, 0.055), box2(r - radius * 0.62, side, 0.07, 0.045));
  const paddleAngle = angle - SECTOR * Math.round(angle / SECTOR);
  const paddle = box(r * Math.cos(paddleAngle) - radius - 0.02, r * Math.sin(paddleAngle), z, 0.33, 0.03, 0.6);
  const spokeAngle = angle - 2 * SECTOR * Math.round(angle / (2 * SECTOR));
  const along = r * Math.cos(spokeAngle) - radius / 2;
  const spoke = box(along, r * Math.sin(spokeAngle), side, radius / 2, 0.065, 0.05);
  const hub = Math.min(box2(r, z, 0.3, 0.78), box2(r, z, 0.11, 1.5));
  return Math.min(rim, paddle, spoke, hub);
}
const SECTOR = (2 * Math.PI) / 16;

/** The wooden channel on its trestles, and the water that leaves it and goes down with the wheel. */
function channel(x, y, z) {
  const bed = WHEEL.y + WHEEL.radius + 0.5;
  const left = -6.2;
  const walls = Math.min(
    box(x - left, y - bed, z, 5.0, 0.05, 0.62),
    box(x - left, y - bed - 0.2, Math.abs(z) - 0.6, 5.0, 0.24, 0.05),
  );
  const foldX = x + 4.6 - 2.3 * clamp(Math.round((x + 4.6) / 2.3), -3, 0);
  const lean = Math.abs(z) - 0.62 - (bed - y) * 0.06;
  const legs = box(foldX, y - bed / 2, lean, 0.09, bed / 2, 0.09);
  const brace = box2(foldX, y - bed * 0.52, 0.07, 0.07) + Math.max(Math.abs(z) - 0.9, 0);
  return Math.min(walls, legs, brace);
}

function fall(x, y, z) {
  const px = x - WHEEL.x;
  const py = y - WHEEL.y;
  const r = long2(px, py);
  const angle = Math.atan2(py, px);
  const wobble = 0.05 * Math.sin(z * 17 + r) + 0.03 * Math.sin(z * 41 + angle * 9);
  const sheet = box2(r - WHEEL.radius - 0.34 - wobble * 0.5, z, 0.035, 0.5);
  // Between the end of the channel and the height of the axle it follows the wheel.
  const arc = Math.max(sheet, (angle - 1.62) * r, (0.1 - angle) * r);
  const drop = box(
    px - WHEEL.radius - 0.36 - wobble - (WHEEL.y - y) * 0.04,
    y - WHEEL.y * 0.56,
    z,
    0.04,
    WHEEL.y * 0.58,
    0.46,
  );
  const bed = WHEEL.y + WHEEL.radius + 0.5;
  const inside = box(x + 6.2, y - bed - 0.16, z, 5.05, 0.07, 0.54);
  return Math.min(arc, drop, inside);
}

export const HOUSE = { x: 4.3, z: 1.7, width: 2.35, height: 3.5, depth: 2.0 };

function walls(x, y, z) {
  const gable = (Math.abs(z) * 0.9 + (y - HOUSE.height) - HOUSE.depth * 0.9) * 0.743;
  return Math.max(box(x, y - 3, z, HOUSE.width, 3, HOUSE.depth), gable);
}
function roof(x, y, z) {
  const slope = (Math.abs(z) * 0.9 + (y - HOUSE.height) - HOUSE.depth * 0.9) * 0.743;
  const tiles = 0.03 * Math.abs(Math.sin(y * 9));
  const slab = Math.max(
    Math.abs(slope - 0.08) - 0.09 - tiles * 0.5,
    Math.abs(x) - HOUSE.width - 0.3,
    HOUSE.height - 0.35 - y,
  );
  const chimney = box(x - 1.3, y - 5.3, z - 0.3, 0.28, 0.7, 0.28);
  return Math.min(slab, chimney);
}
const footing = (x, y, z) =>
  box(x, y - 0.25, z, HOUSE.width + 0.14, 0.75, HOUSE.depth + 0.14) - 0.05 * Math.sin(x * 5) * Math.sin(z * 5 + y * 7);

/** How far the nearest surface is, whatever it belongs to. */
export function distance(x, y, z) {
  nearest = wheel(x - WHEEL.x, y - WHEEL.y, z - WHEEL.z);
  material = WOOD;
  nearer(channel(x, y, z), WOOD);
  nearer(fall(x, y, z), FALL);
  const hx = x - HOUSE.x;
  const hz = z - HOUSE.z;
  // Far from the house its outline is enough.
  const around = box(hx, y - 3, hz, HOUSE.width + 0.4, 3.2, HOUSE.depth + 0.5);
  if (around > 0.5) nearer(around, PLASTER);
  else {
    nearer(walls(hx, y, hz), PLASTER);
    nearer(roof(hx, y, hz), ROOF);
    nearer(footing(hx, y, hz), STONE);
  }
  return nearest;
}
// Beside the answer, and not an object with both: this is asked a hundred million times.
let nearest = 0;
let material = WOOD;

function nearer(candidate, what) {
  if (candidate >= nearest) return;
  nearest = candidate;
  material = what;
}

/** What the surface nearest to a point is made of. */
export function materialAt([x, y, z]) {
  distance(x, y, z);
  return material;
}
