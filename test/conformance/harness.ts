/**
 * What every store is asked through: real births and real judgements, so that the rows are ones a runtime would write.
 * A case is data: a fact about the port, and how to see it.
 */
import { expect } from 'vitest';
import {
  type Birth,
  born,
  createJobChart,
  JobActor,
  type JobChart,
  type StagedTransition,
} from '../../src/actors/job-actor.ts';
import type { JobEvent } from '../../src/actors/job-events.ts';
import type { JobRecord, TransitionRecord } from '../../src/actors/vocabulary.ts';
import type {
  Batch,
  BirthGroup,
  Change,
  ClaimRequest,
  Committed,
  PhaseList,
  PhasesChangedPolicy,
  Store,
  Want,
} from '../../src/runtime/store/port.ts';

/** One fact about the port. */
export interface Case {
  readonly name: string;
  /** Needs a database that outlives its store. */
  readonly reopens?: boolean;
  run(harness: Harness): Promise<void>;
}

/** Opens the same database each time it is called. */
export type Open = (phaseLists: readonly PhaseList[], onPhasesChanged?: PhasesChangedPolicy) => Store;

/** The moment everything begins. */
export const T0 = 1_700_000_000_000;

/** The pipelines a harness starts with. */
export const PHASES: readonly PhaseList[] = [
  { pipeline: 'thumbs', phases: ['download', 'resize', 'upload'] },
  { pipeline: 'mail', phases: ['send'] },
];

export const FAILURE = { name: 'Error', message: 'no route', code: 'EHOSTUNREACH', data: { host: 'a.example' } };

/** Events with their usual contents; `at` is when. */
export const on = {
  claimed: (at = T0, owner = 'runtime-1'): JobEvent => ({ type: 'claimed', at, owner, leaseExpiresAt: at + 30_000 }),
  progressed: (at: number, progress: number): JobEvent => ({
    type: 'progressed',
    at,
    progress,
    message: `${progress}`,
  }),
  phaseCompleted: (at: number, result: unknown): JobEvent => ({ type: 'phaseCompleted', at, result }),
  phaseFailed: (at: number, retryAt: number): JobEvent => ({
    type: 'phaseFailed',
    at,
    failure: FAILURE,
    disposition: 'recoverable',
    retryAt,
  }),
  gaveUp: (at: number): JobEvent => ({
    type: 'phaseFailed',
    at,
    failure: FAILURE,
    disposition: 'fatal',
    retryAt: at,
  }),
  interrupted: (at: number): JobEvent => ({ type: 'interrupted', at, failure: FAILURE, retryAt: at }),
  released: (at: number): JobEvent => ({ type: 'released', at }),
  cancel: (at: number): JobEvent => ({ type: 'cancel', at, reason: 'not wanted' }),
  pause: (at: number): JobEvent => ({ type: 'pause', at, reason: 'lunch' }),
  resume: (at: number): JobEvent => ({ type: 'resume', at }),
  complete: (at: number, result: unknown): JobEvent => ({ type: 'complete', at, result }),
  retry: (at: number): JobEvent => ({ type: 'retry', at }),
  markStale: (at: number): JobEvent => ({ type: 'markStale', at }),
  delete: (at: number): JobEvent => ({ type: 'delete', at }),
};

const EMPTY: Batch = { births: [], changes: [], load: [], judge: () => null, claim: null, logs: [] };

export class Harness {
  store: Store;
  readonly #open: Open;
  #charts = new Map<string, JobChart>();
  #serial = 0;

  constructor(open: Open) {
    this.#open = open;
    this.store = this.#opened(PHASES);
  }

  /** Closes the store and opens its database again, perhaps with other phase lists. */
  async reopen(phaseLists: readonly PhaseList[] = PHASES, onPhasesChanged?: PhasesChangedPolicy): Promise<void> {
    await this.store.close();
    this.store = this.#opened(phaseLists, onPhasesChanged);
  }

  #opened(phaseLists: readonly PhaseList[], onPhasesChanged?: PhasesChangedPolicy): Store {
    const store = this.#open(phaseLists, onPhasesChanged);
    this.#charts = new Map(
      phaseLists.map(({ pipeline, phases }) => [
        pipeline,
        createJobChart({ pipeline, phases: phases.map((name) => ({ name, timeoutMs: null })) }),
      ]),
    );
    return store;
  }

  commit(batch: Partial<Batch>): Promise<Committed> {
    return this.store.commit({ ...EMPTY, ...batch });
  }

  /** Jobs on their way into the world; nothing is written yet. */
  birthGroup(births: readonly Partial<Birth>[], chosenIds: readonly string[] = []): BirthGroup {
    return {
      chosenIds,
      births: births.map((birth) => {
        const pipeline = birth.pipeline ?? 'thumbs';
        const { job, transition } = born(this.#chart(pipeline), {
          id: `job-${++this.#serial}`,
          pipeline,
          data: { n: this.#serial },
          priority: 0,
          maxAttempts: 3,
          scheduledAt: birth.createdAt ?? T0,
          expiresAt: null,
          timeoutMs: null,
          webhookUrl: null,
          createdAt: T0,
          machineVersion: this.store.machineVersions.get(pipeline) ?? 0,
          ...birth,
        });
        return { job, transition };
      }),
    };
  }

  /** Brings one job into the world, and through these events. */
  async born(birth: Partial<Birth> = {}, ...events: readonly JobEvent[]): Promise<JobRecord> {
    const group = this.birthGroup([birth]);
    await this.commit({ births: [group] });
    const job = group.births[0]!.job;
    return events.length === 0 ? job : this.send(job.id, ...events);
  }

  /** What the statechart makes of these events; nothing is written. */
  judge(job: JobRecord, ...events: readonly JobEvent[]): Change {
    const actor = new JobActor(this.#chart(job.pipeline), job);
    const transitions: StagedTransition[] = [];
    for (const event of events) {
      const step = actor.send(event);
      if (!step) throw new Error(`A job that is ${actor.job.status} refuses "${event.type}".`);
      if (step.transition) transitions.push({ ...step.transition, position: 0 });
    }
    const newResults = Object.keys(actor.job.phaseResults).filter(
      (name) => job.phaseResults[name] !== actor.job.phaseResults[name],
    );
    return {
      job: actor.job,
      expected: job,
      transitions,
      newResults,
      newBlobs: [],
      goneResults: [],
      deliveries: [],
      arrived: [],
    };
  }

  /** Sends events to a stored job, one commit each, and sees every time that what was judged is what is stored. */
  async send(id: string, ...events: readonly JobEvent[]): Promise<JobRecord> {
    let job = await this.job(id);
    for (const event of events) {
      const change = this.judge(job, event);
      const { stale } = await this.commit({ changes: [change] });
      expect(stale.size).toBe(0);
      job = change.job;
      if (job.status === 'deleted') expect(await this.store.getJob(id)).toBeUndefined();
      else expect(await this.store.getJob(id)).toEqual(job);
    }
    return job;
  }

  async job(id: string): Promise<JobRecord> {
    const job = await this.store.getJob(id);
    if (!job) throw new Error(`There is no job "${id}".`);
    return job;
  }

  /** Claims what is due, for any phase, in the order the store offers it. */
  async claim(
    wants: readonly Want[],
    { now = T0, ...rest }: Partial<ClaimRequest> = {},
  ): Promise<{ ids: readonly string[]; nextDueAt: number | null }> {
    const ids: string[] = [];
    const { nextDueAt } = await this.commit({
      claim: {
        now,
        wants,
        admit: () => true,
        judge: (job) => {
          ids.push(job.id);
          return this.judge(job, on.claimed(now));
        },
        ...rest,
      },
    });
    return { ids, nextDueAt };
  }

  /** The whole log, read in small pages. */
  async log(): Promise<readonly TransitionRecord[]> {
    const log: TransitionRecord[] = [];
    for (;;) {
      const page = await this.store.readLog(log.at(-1)?.position ?? 0, 7);
      if (page.length === 0) return log;
      log.push(...page);
    }
  }

  /** Everything a store can say about its jobs, to see that nothing has changed. */
  async everything(): Promise<unknown> {
    const { jobs } = await this.store.listJobs({}, 10_000, null);
    const counts = (await this.store.counts()).map(({ pipeline, status, jobs: n }) => `${pipeline} ${status} ${n}`);
    return { jobs, counts: counts.sort(), log: await this.log() };
  }

  #chart(pipeline: string): JobChart {
    const chart = this.#charts.get(pipeline);
    if (!chart) throw new Error(`There is no pipeline "${pipeline}".`);
    return chart;
  }
}
