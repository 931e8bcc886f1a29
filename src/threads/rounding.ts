/** A thousandth is more than anybody wants to know of a measurement. */
export function round(value: number): number {
  return Math.round(value * 1_000) / 1_000;
}
