/** Clocks. */

/** Runs `work` and answers with how many jobs per second that was. */
export async function perSecond(jobs: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return jobs / ((performance.now() - began) / 1000);
}

/**
 * Milliseconds on a clock that all threads and processes of this machine share. Not `performance.timeOrigin +
 * performance.now()`: between processes that drifts with every correction of the wall clock.
 */
export function sharedClock(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

/** A promise and its ends (`Promise.withResolvers`, which Node 20 does not have). */
export function deferred<T = void>(): { promise: Promise<T>; resolve(value: T): void; reject(error: unknown): void } {
  let [resolve, reject]: [(value: T) => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<T>((...ends) => {
    [resolve, reject] = ends;
  });
  return { promise, resolve, reject };
}
