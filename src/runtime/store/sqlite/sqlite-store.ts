/** The store on SQLite: a contents page over its tables, and the one place where transactions begin and end. */
import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from 'better-sqlite3';
import type { JobRecord, StopReason, TransitionRecord } from '../../../actors/vocabulary.ts';
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
import { ClaimQueries } from './claims.ts';
import { adopt, type Connection, type Durability, openFile } from './connection.ts';
import { CountTable } from './counts.ts';
import { isBusy, translateFault } from './faults.ts';
import { JobTable } from './jobs.ts';
import { LeaseTable } from './leases.ts';
import { MachineTable } from './machines.ts';
import { migrate } from './migrate.ts';
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
  readonly abandoned: readonly string[];
  readonly #connection: Connection;
  readonly #busyTimeoutMs: number;
  readonly #counts: CountTable;
  readonly #transitions: TransitionTable;
  readonly #jobs: JobTable;
  readonly #claims: ClaimQueries;
  readonly #leases: LeaseTable;
  readonly #queries: JobQueries;

  constructor(options: SqliteStoreOptions) {
    const { database, phaseLists, onPhasesChanged = 'refuse', durability = 'process-crash' } = options;
    this.#connection = typeof database === 'string' ? openFile(database, durability) : adopt(database);
    this.#busyTimeoutMs = options.busyTimeoutMs ?? 5_000;
    const { db, file, owned } = this.#connection;
    try {
      migrate(db, file);
      const machines = new MachineTable(db);
      const payloads = new PayloadTable(db);
      this.#counts = new CountTable(db);
      this.#transitions = new TransitionTable(db);
      this.#jobs = new JobTable(db, {
        machines,
        payloads,
        transitions: this.#transitions,
        counts: this.#counts,
      });
      this.#claims = new ClaimQueries(db, this.#jobs);
      this.#leases = new LeaseTable(db);
      this.#queries = new JobQueries(db, this.#jobs);
      const adopted = db.transaction(() => machines.adopt(phaseLists, onPhasesChanged, this.#jobs)).immediate();
      this.machineVersions = adopted.versions;
      this.abandoned = adopted.abandoned;
    } catch (error) {
      if (owned) db.close();
      throw translateFault(error, file);
    }
  }

  commit(batch: Batch): Promise<Committed> {
    return this.#write(() => {
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
      this.#counts.flush();
      return { takenIds, stale, missing, nextDueAt };
    });
  }

  getJob(id: string): Promise<JobRecord | undefined> {
    return this.#read(() => this.#jobs.get(id));
  }

  getJobs(ids: readonly string[]): Promise<readonly JobRecord[]> {
    return this.#read(() => this.#jobs.getMany(ids));
  }

  listJobs(filter: JobFilter, limit: number, cursor: string | null): Promise<JobPage> {
    return this.#read(() => this.#queries.list(filter, limit, cursor));
  }

  counts(): Promise<JobCounts> {
    return this.#read(() => this.#counts.all());
  }

  transitions(jobId: string): Promise<readonly TransitionRecord[]> {
    return this.#read(() => this.#transitions.ofJob(jobId));
  }

  readLog(after: number, limit: number): Promise<readonly TransitionRecord[]> {
    return this.#read(() => this.#transitions.after(after, limit));
  }

  logRange(): Promise<{ oldest: number; newest: number }> {
    return this.#read(() => this.#transitions.range());
  }

  register(runtime: RuntimeIdentity): Promise<void> {
    return this.#write(() => this.#leases.register(runtime));
  }

  unregister(runtimeId: string): Promise<void> {
    return this.#write(() => this.#leases.unregister(runtimeId));
  }

  runtimes(): Promise<readonly RuntimeIdentity[]> {
    return this.#read(() => this.#leases.runtimes());
  }

  renewLeases(runtimeId: string, leaseExpiresAt: number): Promise<readonly string[]> {
    return this.#write(() => this.#leases.renew(runtimeId, leaseExpiresAt));
  }

  heldByOthers(runtimeId: string): Promise<readonly HeldJob[]> {
    return this.#read(() => this.#leases.heldByOthers(runtimeId));
  }

  expired(now: number, limit: number): Promise<{ ids: readonly string[]; nextAt: number | null }> {
    return this.#read(() => this.#queries.expired(now, limit));
  }

  finishedBefore(time: number, limit: number): Promise<readonly string[]> {
    return this.#read(() => this.#queries.finishedBefore(time, limit));
  }

  staleBefore(time: number, limit: number): Promise<readonly string[]> {
    return this.#read(() => this.#queries.staleBefore(time, limit));
  }

  pruneLog(rule: { olderThan: number | null; keep: number | null }, limit: number): Promise<number> {
    return this.#write(() => this.#transitions.prune(rule, limit));
  }

  async tidy(): Promise<void> {
    const { db, file, owned } = this.#connection;
    if (!owned || file === ':memory:') return;
    const wal = statSync(`${file}-wal`, { throwIfNoEntry: false });
    // RESTART waits for readers to move on, at most as long as a blocking wait may last.
    if (wal && wal.size > LARGE_WAL) db.pragma('wal_checkpoint(TRUNCATE)');
  }

  async close(): Promise<void> {
    if (this.#connection.owned) this.#connection.db.close();
  }

  async #read<T>(work: () => T): Promise<T> {
    return this.#patiently(work, () => true);
  }

  /** IMMEDIATE: a transaction that reads first and writes later could otherwise fail without waiting. */
  async #write<T>(work: () => T): Promise<T> {
    let begun = false;
    const transaction = this.#connection.db.transaction(() => {
      begun = true;
      return work();
    });
    return this.#patiently(
      () => {
        try {
          return transaction.immediate();
        } catch (error) {
          this.#counts.reset();
          throw error;
        }
      },
      // Work may have been judged already; judging it twice is the caller's decision, not ours.
      () => !begun,
    );
  }

  /** Waits for a lock without blocking the event loop, and says faults in Millrace's words. */
  async #patiently<T>(work: () => T, mayRepeat: () => boolean): Promise<T> {
    const { db, file } = this.#connection;
    const deadline = Date.now() + this.#busyTimeoutMs;
    for (let wait = 2; ; wait = Math.min(wait * 2, 100)) {
      try {
        // A transaction the application left open on a shared connection must not swallow our commit.
        if (db.inTransaction) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
        return work();
      } catch (error) {
        if (!isBusy(error) || !mayRepeat() || Date.now() >= deadline) throw translateFault(error, file);
      }
      await sleep(wait * (0.5 + Math.random()));
    }
  }
}
