/** Notices that another process has committed something: there may be jobs to claim that nobody here was told of, or jobs of ours that were taken. */
import type { Round } from '../service.ts';
import type { Store } from '../store/port.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { dropLost } from './heartbeat.ts';

/** @param onNews called besides, for whoever else may have something to do */
export function watchForeignCommits(
  store: Store,
  supervisor: Supervisor,
  runtimeId: string,
  onNews: () => void,
): Round {
  let last: number | null = null;
  return async () => {
    const now = await store.foreignCommits();
    if (last !== null && now !== last) {
      supervisor.wake();
      onNews();
      await dropLost(supervisor, () => store.heldBy(runtimeId));
    }
    last = now;
    return null;
  };
}
