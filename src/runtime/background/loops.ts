/** Which loops a queue runs, when they start and in which order they stop. */
import type { Newborn } from '../../actors/job-actor.ts';
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
import type { Sender } from './sender.ts';
import { watchForeignCommits } from './watcher.ts';

interface Parts {
  readonly settings: Settings;
  readonly store: Store;
  readonly supervisor: Supervisor;
  readonly runtime: RuntimeIdentity;
  readonly teller: Teller;
  readonly sender: Sender;
}

const EXPIRY_LOOK_MS = 60_000;
const TIDY_MS = 30_000;
const FOREIGN_LOOK_MS = 200;

export function startLoops({ settings, store, supervisor, runtime, teller, sender }: Parts) {
  const { clock, leaseMs, claim, retention } = settings;
  const loop = (name: string, everyMs: number, round: Round) =>
    new Loop(round, { clock, everyMs, onError: (error) => teller.report(error, `the ${name} loop`) });

  const register = once(() => store.register(runtime));
  const heartbeat = loop('heartbeat', Math.floor(leaseMs / 3), async () => {
    // Before the first claim is committed, if the store lets us: whoever finds our jobs must be able to find us.
    await register();
    return renewLeases(store, supervisor, clock, runtime.id, leaseMs);
  });
  const expirer = loop('expiry', EXPIRY_LOOK_MS, () => cancelExpired(store, supervisor, clock));
  const failAbandoned = once(() => giveUpAbandoned(store, supervisor, clock.now()));
  const tidier = loop('tidy', TIDY_MS, async () => {
    await failAbandoned();
    await store.tidy();
    return null;
  });
  const reaper = loop('reaper', leaseMs, () => reapOrphans(store, supervisor, clock, runtime.id));
  const others = [expirer, tidier];
  if (claim) {
    others.push(reaper);
    const foreign = watchForeignCommits(store, supervisor, runtime.id, () => sender.wakeForOthers());
    others.push(loop('watch', FOREIGN_LOOK_MS, foreign));
  }
  if (retention) {
    const every = retention.intervalMs ?? 60_000;
    others.push(loop('retention', every, (stopped) => prune(store, supervisor, clock, retention, stopped)));
  }

  heartbeat.start();
  for (const each of others) each.start();
  supervisor.wake();
  // What a dead runtime was sending is free after the reaper's first round.
  const reaped = claim ? reaper.runOnce() : Promise.resolve();
  const begun = reaped.then(() => sender.start());

  return {
    /** Ends everything but the heartbeat, which running jobs still need. */
    async stopAll(): Promise<void> {
      await begun;
      await Promise.all(others.map((each) => each.stop()));
    },
    stopHeartbeat: () => heartbeat.stop(),
    /** A job with an early end may be the next to expire. */
    bornWith(births: readonly Newborn[]): void {
      for (const { job } of births) if (job.expiresAt !== null) expirer.notLaterThan(job.expiresAt);
    },
  };
}

/** `onPhasesChanged: 'fail'`: the store found them, the statechart ends them. */
async function giveUpAbandoned(store: Store, supervisor: Supervisor, at: number): Promise<void> {
  if (store.abandoned.length === 0) return;
  const jobs = await store.getJobs(store.abandoned);
  await Promise.all(
    jobs.map((job) => supervisor.tell(job.id, { type: 'abandoned', at, failure: phasesGone(job) }).catch(unlessMoved)),
  );
}

/** Does something until it has succeeded once. */
function once(work: () => Promise<void>): () => Promise<void> {
  let done = false;
  return async () => {
    if (done) return;
    await work();
    done = true;
  };
}
