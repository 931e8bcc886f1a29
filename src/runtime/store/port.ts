/**
 * The port behind which the database hides. Every method is one whole transaction; SQLite answers from a
 * synchronous call, another store over the wire. A failed method has changed nothing.
 */
import type { Blob } from '../../actors/blobs.ts';
import type { StagedTransition } from '../../actors/job-actor.ts';
import type { JobRecord, JobStatus, LogLine, StopReason, TransitionRecord } from '../../actors/vocabulary.ts';
import type {
  ClaimedDeliveries,
  DeliveryClaim,
  DeliveryEnd,
  DeliveryRecord,
  DeliveryRequest,
  NewDelivery,
} from './delivery.ts';

/** A new state of one job, with the state it was judged from. */
export interface Change {
  /** The record to be stored. Status `deleted` takes the row away. */
  readonly job: JobRecord;
  /** What the job was judged from, exactly as it was read or committed: what differs is written. Refused as stale unless the stored job still has this number and fence. */
  readonly expected: JobRecord;
  /** What to append to the log, oldest first; empty for progress. */
  readonly transitions: readonly StagedTransition[];
  /** Names of the phases whose results are new in this change. */
  readonly newResults: readonly string[];
  /** Binary values of the new results, by phase. */
  readonly newBlobs: readonly { readonly phase: string; readonly blobs: readonly Blob[] }[];
  /** Names of the phases whose results are dropped, because the job was moved to another phase list. */
  readonly goneResults: readonly string[];
  /** Webhooks owed because of these transitions: written with them or not at all. */
  readonly deliveries: readonly NewDelivery[];
  /** Deliveries whose arrival this change tells the job of; they end with it. One that was taken over meanwhile is left to its taker. */
  readonly arrived: readonly DeliveryClaim[];
}

/** Jobs that come into the world together or not at all. */
export interface BirthGroup {
  readonly births: readonly { readonly job: JobRecord; readonly transition: StagedTransition }[];
  /** Ids chosen by the caller, which may be taken already; the rest were made to be unique. */
  readonly chosenIds: readonly string[];
}

/** A place where claimed jobs are wanted: one phase of one pipeline. */
export interface Want {
  readonly pipeline: string;
  readonly phaseIndex: number;
  /** At most this many. */
  readonly limit: number;
}

/** A request for due jobs, in the order priority, due time, age over all wants. */
export interface ClaimRequest {
  readonly now: number;
  readonly wants: readonly Want[];
  /** Asked for each candidate in order; `false` leaves it where it is. Wants may share room. */
  admit(want: Want): boolean;
  /** Lets the statechart judge the claim; called inside the transaction. `null` leaves the job to others, and the next one is asked. */
  judge(job: JobRecord): Change | null;
}

/** Everything one turn of the supervisor wants to make true. */
export interface Batch {
  readonly births: readonly BirthGroup[];
  /** Judged from memory; each may come back stale. */
  readonly changes: readonly Change[];
  /** Jobs to be read and judged inside the transaction. */
  readonly load: readonly string[];
  judge(job: JobRecord): Change | null;
  readonly claim: ClaimRequest | null;
  /** Lines handlers wrote; those of jobs that are gone are dropped. */
  readonly logs: readonly JobLogLine[];
}

/** A log line on its way in. */
export interface JobLogLine extends LogLine {
  readonly jobId: string;
}

/** What became of a batch that was committed. */
export interface Committed {
  /** Per birth group: the chosen ids that exist already (then nothing of the group was written). */
  readonly takenIds: readonly (readonly string[])[];
  /** Changes that were refused, and why the writer no longer holds the job. */
  readonly stale: ReadonlyMap<Change, StopReason>;
  /** Ids to load that do not exist. */
  readonly missing: ReadonlySet<string>;
  /** When the next job that was not due yet will be; `null` if none is waiting. */
  readonly nextDueAt: number | null;
}

/** Why a writer that was judged under `fence` no longer holds the job. */
export function lossOf(stored: Pick<JobRecord, 'status' | 'fence'> | undefined, fence: number): StopReason {
  if (!stored) return 'not_found';
  if (stored.fence !== fence) return 'taken_by_another_worker';
  if (stored.status === 'completed') return 'already_completed';
  if (stored.status === 'cancelled' || stored.status === 'paused') return stored.status;
  return 'taken_by_another_worker';
}

/** Filters of `listJobs`; all given ones must match. */
export interface JobFilter {
  readonly status?: JobStatus | readonly JobStatus[];
  readonly pipeline?: string | readonly string[];
  readonly createdAfter?: number;
  readonly createdBefore?: number;
}

/** One page of jobs, newest first; `cursor` continues after it, `null` at the end. */
export interface JobPage<Job = JobRecord> {
  readonly jobs: readonly Job[];
  readonly cursor: string | null;
}

/** How many jobs there are, per pipeline and status. */
export type JobCounts = readonly {
  readonly pipeline: string;
  readonly status: JobStatus;
  readonly jobs: number;
}[];

/** Who a runtime is, so that others can tell whether it still lives. */
export interface RuntimeIdentity {
  readonly id: string;
  readonly host: string;
  readonly pid: number;
  /** When the process began, in the host's own words; `null` where it cannot be known. */
  readonly processStart: string | null;
}

/** An active job as the reaper sees it. */
export interface HeldJob {
  readonly id: string;
  readonly fence: number;
  readonly leaseExpiresAt: number;
  readonly owner: string;
}

/** A pipeline's phase list, as this program has it. */
export interface PhaseList {
  readonly pipeline: string;
  readonly phases: readonly string[];
}

/** What to do with unfinished jobs that cannot go on under the present phase list. */
export type PhasesChangedPolicy = 'refuse' | 'migrate' | 'fail';

/** The store port. */
export interface Store {
  /** Version numbers of the phase lists given at opening, by pipeline. */
  readonly machineVersions: ReadonlyMap<string, number>;
  /** How many phases the longest list has that jobs of a pipeline were ever born under. */
  readonly mostPhases: ReadonlyMap<string, number>;
  /** Jobs found at opening that must be failed because their phases are gone (`onPhasesChanged: 'fail'`). */
  readonly abandoned: readonly string[];

  commit(batch: Batch): Promise<Committed>;
  /** A number that changes whenever somebody else commits to the database. Very cheap. */
  foreignCommits(): Promise<number>;

  getJob(id: string): Promise<JobRecord | undefined>;
  getJobs(ids: readonly string[]): Promise<readonly JobRecord[]>;
  listJobs(filter: JobFilter, limit: number, cursor: string | null): Promise<JobPage>;
  counts(): Promise<JobCounts>;
  /** The binary values of one phase's result. */
  blobs(jobId: string, phase: string): Promise<readonly Blob[]>;
  /** The lines a job's handlers wrote, oldest first. */
  logs(jobId: string): Promise<readonly LogLine[]>;
  /** The log of one job, oldest first; also of a deleted one until the log is pruned. */
  transitions(jobId: string): Promise<readonly TransitionRecord[]>;
  /** The log of all jobs after a position, oldest first. */
  readLog(after: number, limit: number): Promise<readonly TransitionRecord[]>;
  /** From where to where the log reaches: `newest` is the last position ever given out (0 if none), `oldest` the first one kept (else `newest + 1`). Cheap. */
  logRange(): Promise<{ readonly oldest: number; readonly newest: number }>;

  /** Takes due deliveries, one per job at a time and each job's in order. One that is held is due again at `until`, for whoever asks. */
  claimDeliveries(request: DeliveryRequest): Promise<ClaimedDeliveries>;
  /** Ends an attempt; the job's next delivery becomes due if this one is done with. `false`: the claim was lost, nothing was changed. */
  settleDelivery(claim: DeliveryClaim, end: DeliveryEnd): Promise<boolean>;
  /** Deliveries of one job that are owed or were given up, oldest first; the job itself may be gone. */
  deliveries(jobId: string): Promise<readonly DeliveryRecord[]>;

  register(runtime: RuntimeIdentity): Promise<void>;
  /** Forgets a runtime; what it was sending becomes due at once. */
  unregister(runtimeId: string): Promise<void>;
  runtimes(): Promise<readonly RuntimeIdentity[]>;
  /** Extends the leases of the jobs this runtime holds; answers with the ids that it still holds. */
  renewLeases(runtimeId: string, leaseExpiresAt: number): Promise<readonly string[]>;
  /** Ids of the active jobs this runtime holds. */
  heldBy(runtimeId: string): Promise<readonly string[]>;
  /** All active jobs of runtimes other than `runtimeId`. */
  heldByOthers(runtimeId: string): Promise<readonly HeldJob[]>;

  /** Never-started jobs whose `expiresAt` has passed, and when the next one will. */
  expired(now: number, limit: number): Promise<{ ids: readonly string[]; nextAt: number | null }>;
  /** Ids of finished jobs older than `finishedBefore`, oldest first. */
  finishedBefore(time: number, limit: number): Promise<readonly string[]>;
  /** Ids of stale jobs marked before `time`, oldest first. */
  staleBefore(time: number, limit: number): Promise<readonly string[]>;
  /** Takes entries from the old end of the log; answers with how many went. */
  pruneLog(rule: { olderThan: number | null; keep: number | null }, limit: number): Promise<number>;
  /** Housekeeping that keeps files small; cheap when there is nothing to do. */
  tidy(): Promise<void>;

  close(): Promise<void>;
}
