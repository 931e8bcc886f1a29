/** Phase lists: which ones stored jobs were born under, and what becomes of jobs whose list has changed. */
import type { Database, Statement } from 'better-sqlite3';
import { canGoOn, carryOver, keptPhases } from '../../../actors/phase-change.ts';
import { PhasesChangedError } from '../../errors.ts';
import type { PhaseList, PhasesChangedPolicy } from '../port.ts';
import type { JobTable } from './jobs.ts';

const AT_REST = `status IN ('blocked', 'pending', 'retrying', 'paused')`;
const UNFINISHED = `status IN ('blocked', 'pending', 'retrying', 'paused', 'active')`;

interface MachineRow {
  readonly version: number;
  readonly pipeline: string;
  readonly phases: string;
}

/** The phase lists ever used with this database, by version. */
export class MachineTable {
  readonly #byVersion = new Map<number, readonly string[]>();
  readonly #get: Statement<[number], string>;
  readonly #db: Database;

  constructor(db: Database) {
    this.#db = db;
    this.#get = db
      .prepare<[number], string>('SELECT phases FROM millrace_machines WHERE version = ?')
      .pluck()
      .safeIntegers(false);
  }

  /** The phase names of a version; another process may have added it since we opened. */
  phases(version: number): readonly string[] {
    let phases = this.#byVersion.get(version);
    if (!phases) {
      phases = JSON.parse(this.#get.get(version) ?? '[]') as string[];
      this.#byVersion.set(version, phases);
    }
    return phases;
  }

  /**
   * Makes the given lists the present ones, inside the caller's transaction. Unfinished jobs of older lists go on if they can;
   * for the others `policy` decides. Answers with the versions, the length of the longest lists, and the jobs that must be failed.
   */
  adopt(lists: readonly PhaseList[], policy: PhasesChangedPolicy, jobs: JobTable) {
    const versions = new Map<string, number>();
    const mostPhases = new Map<string, number>();
    const abandoned: string[] = [];
    for (const { pipeline, phases } of lists) {
      const version = this.#register(pipeline, phases);
      versions.set(pipeline, version);
      mostPhases.set(pipeline, phases.length);
      for (const old of this.#others(pipeline, version)) {
        const stored = JSON.parse(old.phases) as string[];
        mostPhases.set(pipeline, Math.max(mostPhases.get(pipeline) ?? 0, stored.length));
        const stuck = this.#stuckIndexes(old.version, stored, phases);
        if (stuck.length > 0 && policy === 'refuse') {
          throw new PhasesChangedError(pipeline, this.#countAt(old.version, stuck), stored, phases);
        }
        if (stuck.length > 0 && policy === 'fail') abandoned.push(...this.#idsAt(old.version, stuck));
        this.#move(old.version, version, stored, phases, policy, jobs);
      }
    }
    return { versions, mostPhases, abandoned };
  }

  #register(pipeline: string, phases: readonly string[]): number {
    const json = JSON.stringify(phases);
    this.#db
      .prepare('INSERT INTO millrace_machines (pipeline, phases) VALUES (?, ?) ON CONFLICT DO NOTHING')
      .run(pipeline, json);
    return this.#db
      .prepare<[string, string], number>('SELECT version FROM millrace_machines WHERE pipeline = ? AND phases = ?')
      .pluck()
      .safeIntegers(false)
      .get(pipeline, json) as number;
  }

  #others(pipeline: string, version: number): readonly MachineRow[] {
    return this.#db
      .prepare<[string, number], MachineRow>('SELECT * FROM millrace_machines WHERE pipeline = ? AND version <> ?')
      .safeIntegers(false)
      .all(pipeline, version);
  }

  /** How far unfinished jobs of a version have come, where they cannot go on from. */
  #stuckIndexes(version: number, stored: readonly string[], current: readonly string[]): number[] {
    return this.#db
      .prepare<[number], number>(
        `SELECT DISTINCT phase_index FROM millrace_jobs WHERE machine_version = ? AND ${UNFINISHED}`,
      )
      .pluck()
      .safeIntegers(false)
      .all(version)
      .filter((finished) => !canGoOn(stored, finished, current));
  }

  #countAt(version: number, indexes: readonly number[]): number {
    return this.#idsAt(version, indexes).length;
  }

  #idsAt(version: number, indexes: readonly number[]): readonly string[] {
    return this.#db
      .prepare<[number, string], string>(
        `SELECT id FROM millrace_jobs WHERE machine_version = ? AND ${UNFINISHED}
         AND phase_index IN (SELECT value FROM json_each(?))`,
      )
      .pluck()
      .all(version, JSON.stringify(indexes));
  }

  /** Jobs nobody has touched need only the new number; the others get the new list, keeping what they have finished. */
  #move(
    from: number,
    to: number,
    stored: readonly string[],
    current: readonly string[],
    policy: PhasesChangedPolicy,
    jobs: JobTable,
  ): void {
    this.#db
      .prepare(
        `UPDATE millrace_jobs SET machine_version = ? WHERE machine_version = ? AND phases IS NULL AND ${AT_REST}`,
      )
      .run(to, from);
    const ids = this.#db
      .prepare<[number], string>(`SELECT id FROM millrace_jobs WHERE machine_version = ? AND ${AT_REST}`)
      .pluck()
      .all(from);
    for (const id of ids) {
      const job = jobs.get(id);
      if (!job) continue;
      const able = canGoOn(stored, job.phaseIndex, current);
      if (!able && policy !== 'migrate') continue;
      const kept = able ? job.phaseIndex : keptPhases(stored, job.phaseIndex, current);
      jobs.rewrite(carryOver(job, current, to, kept), job);
    }
  }
}
