/** Types of burn.js, which is JavaScript because threads load it as it is. */
export function burn(steps: number): number;
