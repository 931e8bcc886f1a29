/** The jobs themselves: birth, change and reading. A change is refused when its row has moved on meanwhile. */
import type { Database, Statement } from 'better-sqlite3';
import type { JobRecord, StopReason } from '../../../actors/vocabulary.ts';
import { type BirthGroup, type Change, lossOf } from '../port.ts';
import type { BlobTable } from './blobs.ts';
import type { CountTable } from './counts.ts';
import type { DeliveryTable } from './deliveries.ts';
import type { LogTable } from './logs.ts';
import type { MachineTable } from './machines.ts';
import type { PayloadTable } from './payloads.ts';
import { INSERT_JOB, idOfPayloads, insertValues, JOB_COLUMNS, type JobRow, packData, toRecord } from './rows.ts';
import type { TransitionTable } from './transitions.ts';
import { JobUpdates } from './updates.ts';

/** The tables a job's change touches besides its own. */
export interface Neighbours {
  readonly machines: MachineTable;
  readonly payloads: PayloadTable;
  readonly blobs: BlobTable;
  readonly logs: LogTable;
  readonly transitions: TransitionTable;
  readonly counts: CountTable;
  readonly deliveries: DeliveryTable;
}

export class JobTable {
  readonly #near: Neighbours;
  readonly #insert: Statement<unknown[]>;
  readonly #updates: JobUpdates;
  readonly #delete: Statement<[string, number, number]>;
  readonly #status: Statement<[string], Pick<JobRecord, 'status' | 'fence'>>;
  readonly #get: Statement<[string], JobRow>;
  readonly #getMany: Statement<[string], JobRow>;
  /** Ids are taken as long as the log or a delivery knows them: two jobs under one id could not be told apart there. */
  readonly #existing: Statement<[{ ids: string }], string>;

  constructor(db: Database, near: Neighbours) {
    this.#near = near;
    this.#insert = db.prepare(INSERT_JOB);
    this.#updates = new JobUpdates(db);
    this.#delete = db.prepare('DELETE FROM millrace_jobs WHERE id = ? AND seq = ? AND fence = ?');
    this.#status = db
      .prepare<[string], Pick<JobRecord, 'status' | 'fence'>>('SELECT status, fence FROM millrace_jobs WHERE id = ?')
      .safeIntegers(false);
    this.#get = db
      .prepare<[string], JobRow>(`SELECT ${JOB_COLUMNS} FROM millrace_jobs WHERE id = ?`)
      .raw()
      .safeIntegers(false);
    this.#getMany = db
      .prepare<[string], JobRow>(
        `SELECT ${JOB_COLUMNS} FROM millrace_jobs WHERE id IN (SELECT value FROM json_each(?))`,
      )
      .raw()
      .safeIntegers(false);
    this.#existing = db
      .prepare<[{ ids: string }], string>(
        `SELECT id FROM millrace_jobs WHERE id IN (SELECT value FROM json_each($ids))
         UNION SELECT job_id FROM millrace_transitions WHERE job_id IN (SELECT value FROM json_each($ids))
         UNION SELECT job_id FROM millrace_deliveries WHERE job_id IN (SELECT value FROM json_each($ids))`,
      )
      .pluck();
  }

  /** Writes the whole group, or, if a chosen id is taken, nothing; answers with the taken ones. */
  bear(group: BirthGroup): readonly string[] {
    if (group.chosenIds.length > 0) {
      const taken = this.#existing.all({ ids: JSON.stringify(group.chosenIds) });
      if (taken.length > 0) return taken;
    }
    for (const { job, transition } of group.births) {
      const { body, inline } = packData(job);
      this.#insert.run(insertValues(job, inline ? body : null));
      if (!inline) this.#near.payloads.put(job.id, '', body);
      this.#near.transitions.append(transition);
      this.#near.counts.move(job.pipeline, null, job.status);
    }
    return [];
  }

  /** Writes a change; answers with `null`, or with why the writer no longer holds the job. */
  apply(change: Change): StopReason | null {
    const { job, expected } = change;
    const isDone =
      job.status === 'deleted'
        ? this.#delete.run(job.id, expected.seq, expected.fence).changes > 0
        : this.#updates.run(job, expected);
    if (!isDone) return lossOf(this.#status.get(job.id), expected.fence);
    if (job.status === 'deleted') this.#deleteAround(job);
    for (const phase of change.newResults) {
      this.#near.payloads.put(job.id, phase, JSON.stringify(job.phaseResults[phase]));
    }
    for (const { phase, blobs } of change.newBlobs) this.#near.blobs.put(job.id, phase, blobs);
    for (const phase of change.goneResults) this.#deleteResult(job.id, phase);
    for (const transition of change.transitions) this.#near.transitions.append(transition);
    for (const delivery of change.deliveries) this.#near.deliveries.owe(delivery);
    for (const claim of change.arrived) this.#near.deliveries.settle(claim, { type: 'arrived' });
    this.#near.counts.move(job.pipeline, expected.status, job.status);
    return null;
  }

  /** Gives a job at rest another phase list. No transition: its state stays what it was. */
  rewrite(job: JobRecord, before: JobRecord): void {
    this.#updates.run(job, before);
    for (const phase of Object.keys(before.phaseResults)) {
      if (!(phase in job.phaseResults)) this.#deleteResult(job.id, phase);
    }
  }

  #deleteResult(id: string, phase: string): void {
    this.#near.payloads.deleteOne(id, phase);
    this.#near.blobs.deleteOne(id, phase);
  }

  /** What is kept apart from the row. Most jobs have no blobs and no lines, and are not asked to pay for the others. */
  #deleteAround(job: JobRecord): void {
    this.#near.payloads.delete(job.id);
    if (job.phases.some(({ blobs }) => blobs > 0)) this.#near.blobs.delete(job.id);
    this.#near.logs.delete(job.id);
  }

  get(id: string): JobRecord | undefined {
    const row = this.#get.get(id);
    return row && this.record(row);
  }

  getMany(ids: readonly string[]): JobRecord[] {
    return this.records(this.#getMany.all(JSON.stringify(ids)));
  }

  record(row: JobRow): JobRecord {
    const { payloads, machines } = this.#near;
    return toRecord(row, { payloads: (id) => payloads.of(id), phases: (version) => machines.phases(version) });
  }

  /** Like {@link record} for many rows, with one look for payloads. */
  records(rows: readonly JobRow[]): JobRecord[] {
    const { payloads, machines } = this.#near;
    const apart = rows.map(idOfPayloads).filter((id) => id !== null);
    const found = payloads.ofMany(apart);
    return rows.map((row) => toRecord(row, { payloads: found, phases: (version) => machines.phases(version) }));
  }
}
