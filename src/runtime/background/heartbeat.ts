/** Renews the leases of the jobs this runtime holds, and notices the ones it has lost. */
import type { Clock } from '../clock.ts';
import type { Store } from '../store/port.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';

export async function renewLeases(
  store: Store,
  supervisor: Supervisor,
  clock: Clock,
  runtimeId: string,
  leaseMs: number,
): Promise<null> {
  await dropLost(supervisor, () => store.renewLeases(runtimeId, clock.now() + leaseMs));
  return null;
}

/** Stops the handlers of jobs that are not ours any more. Does not ask if there are none. */
export async function dropLost(supervisor: Supervisor, ask: () => Promise<readonly string[]>): Promise<void> {
  const live = supervisor.liveClaims();
  if (live.length === 0) return;
  const held = new Set(await ask());
  for (const claim of live) if (!held.has(claim.id)) await supervisor.checkClaim(claim);
}
