/** The store on SQLite: a contents page over its tables. */
import { statSync } from 'node:fs';
import type { Database, Statement } from 'better-sqlite3';
import type { Blob } from '../../../actors/blobs.ts';
import type { JobRecord, LogLine, StopReason, TransitionRecord } from '../../../actors/vocabulary.ts';
import type { ClaimedDeliveries, DeliveryClaim, DeliveryEnd, DeliveryRecord, DeliveryRequest } from '../delivery.ts';
import type {
  Batch,
  Change,
  Committed,
  HeldJob,
  JobCounts,
  JobFilter,
  JobPage,
  PhaseList,
  PhasesChangedPolicy,
  RuntimeIdentity,
  Store,
} from '../port.ts';
import { BlobTable } from './blobs.ts';
import { ClaimQueries } from './claims.ts';
import { adopt, type Connection, type Durability, openFile, waitBriefly } from './connection.ts';
import { CountTable } from './counts.ts';
import { DeliveryTable } from './deliveries.ts';
import { translateFault } from './faults.ts';
import { JobTable } from './jobs.ts';
import { LeaseTable } from './leases.ts';
import { LogTable } from './logs.ts';
import { MachineTable } from './machines.ts';
import { migrate } from './migrate.ts';
import { Patience } from './patience.ts';
import { PayloadTable } from './payloads.ts';
import { JobQueries } from './queries.ts';
import { TransitionTable } from './transitions.ts';

/** How a store is opened. */
export interface SqliteStoreOptions {
  /** A path, `:memory:`, or a database the application opened and goes on using. */
  readonly database: string | Database;
  /** The phase lists of the program's pipelines. */
  readonly phaseLists: readonly PhaseList[];
  readonly onPhasesChanged?: PhasesChangedPolicy;
  /** Ignored for a database that was passed in open: its pragmas are its owner's. */
  readonly durability?: Durability;
  /** How long to wait, without blocking the event loop, for another connection's write lock. Default 5,000. */
  readonly busyTimeoutMs?: number;
}

/** A WAL file larger than this is pushed back into the database by {@link SqliteStore.tidy}. */
const LARGE_WAL = 32 * 1024 * 1024;

/** The {@link Store} on SQLite. Opening is synchronous: what is wrong with the file is thrown by the constructor. */
export class SqliteStore implements Store {
  readonly machineVersions: ReadonlyMap<string, number>;
  readonly mostPhases: ReadonlyMap<string, number>;
  readonly abandoned: readonly string[];
  readonly #connection: Connection;
  readonly #patience: Patience;
  readonly #dataVersion: Statement<[], number>;
  readonly #counts: CountTable;
  readonly #blobs: BlobTable;
  readonly #logs: LogTable;
  readonly #transitions: TransitionTable;
  readonly #jobs: JobTable;
  readonly #claims: ClaimQueries;
  readonly #leases: LeaseTable;
  readonly #deliveries: DeliveryTable;
  readonly #queries: JobQueries;

  constructor(options: SqliteStoreOptions) {
    const { database, phaseLists, onPhasesChanged = 'refuse', durability = 'process-crash' } = options;
    const { busyTimeoutMs = 5_000 } = options;
    this.#connection = typeof database === 'string' ? openFile(database, durability, busyTimeoutMs) : adopt(database);
    const { db, file, owned } = this.#connection;
    try {
      migrate(db, file);
      const machines = new MachineTable(db);
      const payloads = new PayloadTable(db);
      this.#dataVersion = db.prepare<[], number>('PRAGMA data_version').pluck();
      this.#counts = new CountTable(db);
      this.#blobs = new BlobTable(db);
      this.#logs = new LogTable(db);
      this.#transitions = new TransitionTable(db);
      this.#deliveries = new DeliveryTable(db);
      this.#jobs = new JobTable(db, {
        machines,
        payloads,
        blobs: this.#blobs,
        logs: this.#logs,
        transitions: this.#transitions,
        counts: this.#counts,
        deliveries: this.#deliveries,
      });
      this.#claims = new ClaimQueries(db, this.#jobs);
      this.#leases = new LeaseTable(db);
      this.#queries = new JobQueries(db, this.#jobs);
      const adopted = db.transaction(() => machines.adopt(phaseLists, onPhasesChanged, this.#jobs)).immediate();
      this.machineVersions = adopted.versions;
      this.mostPhases = adopted.mostPhases;
      this.abandoned = adopted.abandoned;
      // What a rolled back transaction has counted never happened.
      this.#patience = new Patience(this.#connection, busyTimeoutMs, () => this.#counts.reset());
      if (owned) waitBriefly(db);
    } catch (error) {
      if (owned) db.close();
      throw translateFault(error, file);
    }
  }

  commit(batch: Batch): Promise<Committed> {
    return this.#patience.write(() => {
      const takenIds = batch.births.map((group) => this.#jobs.bear(group));
      const stale = new Map<Change, StopReason>();
      for (const change of batch.changes) {
        const reason = this.#jobs.apply(change);
        if (reason) stale.set(change, reason);
      }
      const missing = new Set<string>();
      for (const id of batch.load) {
        const job = this.#jobs.get(id);
        if (!job) missing.add(id);
        else {
          const change = batch.judge(job);
          if (change) this.#jobs.apply(change);
        }
      }
      const nextDueAt = batch.claim ? this.#claims.run(batch.claim).nextDueAt : null;
      this.#logs.append(batch.logs);
      this.#counts.flush();
      return { takenIds, stale, missing, nextDueAt };
    });
  }

  foreignCommits(): Promise<number> {
    return this.#patience.read(() => Number(this.#dataVersion.get()));
  }

  getJob(id: string): Promise<JobRecord | undefined> {
    return this.#patience.read(() => this.#jobs.get(id));
  }

  getJobs(ids: readonly string[]): Promise<readonly JobRecord[]> {
    return this.#patience.read(() => this.#jobs.getMany(ids));
  }

  listJobs(filter: JobFilter, limit: number, cursor: string | null): Promise<JobPage> {
    return this.#patience.read(() => this.#queries.list(filter, limit, cursor));
  }

  counts(): Promise<JobCounts> {
    return this.#patience.read(() => this.#counts.all());
  }

  blobs(jobId: string, phase: string): Promise<readonly Blob[]> {
    return this.#patience.read(() => this.#blobs.of(jobId, phase));
  }

  logs(jobId: string): Promise<readonly LogLine[]> {
    return this.#patience.read(() => this.#logs.of(jobId));
  }

  transitions(jobId: string): Promise<readonly TransitionRecord[]> {
    return this.#patience.read(() => this.#transitions.ofJob(jobId));
  }

  readLog(after: number, limit: number): Promise<readonly TransitionRecord[]> {
    return this.#patience.read(() => this.#transitions.after(after, limit));
  }

  claimDeliveries(request: DeliveryRequest): Promise<ClaimedDeliveries> {
    return this.#patience.write(() => this.#deliveries.claim(request));
  }

  settleDelivery(claim: DeliveryClaim, end: DeliveryEnd): Promise<boolean> {
    return this.#patience.write(() => this.#deliveries.settle(claim, end));
  }

  deliveries(jobId: string): Promise<readonly DeliveryRecord[]> {
    return this.#patience.read(() => this.#deliveries.ofJob(jobId));
  }

  logRange(): Promise<{ oldest: number; newest: number }> {
    return this.#patience.read(() => this.#transitions.range());
  }

  register(runtime: RuntimeIdentity): Promise<void> {
    return this.#patience.write(() => this.#leases.register(runtime));
  }

  unregister(runtimeId: string): Promise<void> {
    return this.#patience.write(() => {
      this.#leases.unregister(runtimeId);
      this.#deliveries.release(runtimeId);
    });
  }

  runtimes(): Promise<readonly RuntimeIdentity[]> {
    return this.#patience.read(() => this.#leases.runtimes());
  }

  renewLeases(runtimeId: string, leaseExpiresAt: number): Promise<readonly string[]> {
    return this.#patience.write(() => this.#leases.renew(runtimeId, leaseExpiresAt));
  }

  heldBy(runtimeId: string): Promise<readonly string[]> {
    return this.#patience.read(() => this.#leases.heldBy(runtimeId));
  }

  heldByOthers(runtimeId: string): Promise<readonly HeldJob[]> {
    return this.#patience.read(() => this.#leases.heldByOthers(runtimeId));
  }

  expired(now: number, limit: number): Promise<{ ids: readonly string[]; nextAt: number | null }> {
    return this.#patience.read(() => this.#queries.expired(now, limit));
  }

  finishedBefore(time: number, limit: number): Promise<readonly string[]> {
    return this.#patience.read(() => this.#queries.finishedBefore(time, limit));
  }

  staleBefore(time: number, limit: number): Promise<readonly string[]> {
    return this.#patience.read(() => this.#queries.staleBefore(time, limit));
  }

  pruneLog(rule: { olderThan: number | null; keep: number | null }, limit: number): Promise<number> {
    return this.#patience.write(() => this.#transitions.prune(rule, limit));
  }

  async tidy(): Promise<void> {
    const { db, file, owned } = this.#connection;
    if (!owned || file === ':memory:') return;
    const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
    // TRUNCATE waits for readers to move on, at most as long as a blocking wait may last; then the next round tries again.
    if (wal && wal.size > LARGE_WAL) await this.#patience.read(() => db.pragma('wal_checkpoint(TRUNCATE)'));
  }

  async close(): Promise<void> {
    if (this.#connection.owned) this.#connection.db.close();
  }
}
