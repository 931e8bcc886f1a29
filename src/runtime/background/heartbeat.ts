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
  if (!supervisor.holdsJobs) return null;
  const live = supervisor.liveClaims();
  const held = new Set(await store.renewLeases(runtimeId, clock.now() + leaseMs));
  for (const claim of live) if (!held.has(claim.id)) await supervisor.checkClaim(claim);
  return null;
}
