/** Which loops a queue runs, when they start and in which order they stop. */
import type { Step } from '../../actors/job-actor.ts';
import type { Settings } from '../config.ts';
import type { Teller } from '../journal/teller.ts';
import { Loop, type Round } from '../service.ts';
import type { RuntimeIdentity, Store } from '../store/port.ts';
import { phasesGone } from '../supervisor/dispatcher.ts';
import type { Supervisor } from '../supervisor/supervisor.ts';
import { cancelExpired, unlessMoved } from './expirer.ts';
import { renewLeases } from './heartbeat.ts';
import { prune } from './pruner.ts';
import { reapOrphans } from './reaper.ts';

interface Parts {
  readonly settings: Settings;
  readonly store: Store;
  readonly supervisor: Supervisor;
  readonly runtime: RuntimeIdentity;
  readonly teller: Teller;
}

const EXPIRY_LOOK_MS = 60_000;
const TIDY_MS = 30_000;

export function startLoops({ settings, store, supervisor, runtime, teller }: Parts) {
  const { clock, leaseMs, claim, retention } = settings;
  const loop = (name: string, everyMs: number, round: Round) =>
    new Loop(round, { clock, everyMs, onError: (error) => teller.report(error, `the ${name} loop`) });

  const heartbeat = loop('heartbeat', Math.floor(leaseMs / 3), () =>
    renewLeases(store, supervisor, clock, runtime.id, leaseMs),
  );
  const expirer = loop('expiry', EXPIRY_LOOK_MS, () => cancelExpired(store, supervisor, clock));
  const reaper = loop('reaper', leaseMs, () => reapOrphans(store, supervisor, clock, runtime.id));
  const tidier = loop('tidy', TIDY_MS, () => store.tidy().then(() => null));
  const others = [expirer, tidier, ...(claim ? [reaper] : [])];
  if (retention) {
    others.push(loop('retention', retention.intervalMs ?? 60_000, () => prune(store, supervisor, clock, retention)));
  }

  const begin = async () => {
    // Registered before the first claim is committed: whoever finds our jobs must be able to find us.
    await store.register(runtime).catch((error: unknown) => teller.report(error, 'the registration of this runtime'));
    await failAbandoned(store, supervisor, clock.now());
    heartbeat.start();
    for (const each of others) each.start();
    supervisor.wake();
  };
  const begun = begin().catch((error: unknown) => teller.report(error, 'the start of the queue'));

  return {
    /** Ends everything but the heartbeat, which running jobs still need. */
    async stopAll(): Promise<void> {
      await begun;
      await Promise.all(others.map((each) => each.stop()));
    },
    stopHeartbeat: () => heartbeat.stop(),
    /** A job with an early end may be the next to expire. */
    bornWith(births: readonly Step[]): void {
      for (const { job } of births) if (job.expiresAt !== null) expirer.notLaterThan(job.expiresAt);
    },
  };
}

/** `onPhasesChanged: 'fail'`: the store found them, the statechart ends them. */
async function failAbandoned(store: Store, supervisor: Supervisor, at: number): Promise<void> {
  for (const job of await store.getJobs(store.abandoned)) {
    await supervisor.tell(job.id, { type: 'abandoned', at, failure: phasesGone(job) }).catch(unlessMoved);
  }
}
