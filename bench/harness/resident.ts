/** Resident memory, after the garbage is gone. */
import { setTimeout as sleep } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/** MiB resident. Collects several times: pages go back to the system only some time after their objects are gone. */
export async function residentMiB(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let look = 0; look < 5; look++) {
    collect();
    await sleep(100);
    least = Math.min(least, process.memoryUsage.rss() / 2 ** 20);
  }
  return least;
}
