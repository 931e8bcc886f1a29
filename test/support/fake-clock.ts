/** Time in the test's hands: nothing rings until it is moved. */
import type { Clock } from 'millrace';

export function fakeClock(start = 1_700_000_000_000) {
  let now = start;
  const timers = new Set<{ time: number; ring: () => void }>();
  const clock: Clock = {
    now: () => now,
    at(time, ring) {
      const timer = { time, ring };
      timers.add(timer);
      if (time <= now) setImmediate(() => timers.delete(timer) && ring());
      return () => timers.delete(timer);
    },
  };
  return {
    clock,
    /** How many timers have been set and not rung. */
    waiting: () => timers.size,
    /** Moves time on and rings what is due, in order. */
    advance(ms: number): void {
      now += ms;
      const due = [...timers].filter(({ time }) => time <= now).sort((a, b) => a.time - b.time);
      for (const timer of due) if (timers.delete(timer)) timer.ring();
    },
  };
}
