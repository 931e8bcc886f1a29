/** Time behind a port, so that tests can hold it in their hands. */

/** Stops a timer that has not rung yet. */
export type CancelTimer = () => void;

/** What the runtime asks of time. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls back once `time` is reached; at once (but never synchronously) if it has passed. Does not keep the process alive. */
  at(time: number, callback: () => void): CancelTimer;
}

/** Node turns longer timers into 1 ms ones, so they are made of pieces. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** The real one. */
export const systemClock: Clock = {
  now: Date.now,
  at(time, callback) {
    let timer: NodeJS.Timeout;
    const arm = () => {
      const wait = time - Date.now();
      timer =
        wait > LONGEST_TIMER_MS
          ? setTimeout(arm, LONGEST_TIMER_MS)
          : setTimeout(callback, Math.max(0, Math.ceil(wait)));
      timer.unref();
    };
    arm();
    return () => clearTimeout(timer);
  },
};
