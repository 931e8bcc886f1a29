/**
 * Which due jobs are next. The order over all wants is priority, due time, age. Each want is a walk down
 * one index: a seek per distinct priority, then due jobs in order; finished and delayed jobs are never passed.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { ClaimRequest, Want } from '../port.ts';
import type { JobTable } from './jobs.ts';
import { JOB_COLUMNS, type JobRow, placeInLine } from './rows.ts';

interface Candidate {
  readonly want: Want;
  readonly row: JobRow;
  readonly n: number;
  readonly priority: number;
  readonly scheduledAt: number;
}

const HERE = `pipeline = ? AND phase_index = ? AND status IN ('pending', 'retrying')`;

export class ClaimQueries {
  readonly #jobs: JobTable;
  readonly #topPriority: Statement<[string, number, number], number>;
  readonly #due: Statement<[string, number, number, number, string, number], JobRow>;
  readonly #nextDue: Statement<[string, number, number, number], number>;

  constructor(db: Database, jobs: JobTable) {
    this.#jobs = jobs;
    this.#topPriority = db
      .prepare<[string, number, number], number>(
        `SELECT priority FROM millrace_jobs WHERE ${HERE} AND priority < ? ORDER BY priority DESC LIMIT 1`,
      )
      .pluck()
      .safeIntegers(false);
    this.#due = db
      .prepare<[string, number, number, number, string, number], JobRow>(
        `SELECT ${JOB_COLUMNS} FROM millrace_jobs
         WHERE ${HERE} AND priority = ? AND scheduled_at <= ? AND n NOT IN (SELECT value FROM json_each(?))
         ORDER BY scheduled_at, n LIMIT ?`,
      )
      .raw()
      .safeIntegers(false);
    this.#nextDue = db
      .prepare<[string, number, number, number], number>(
        `SELECT scheduled_at FROM millrace_jobs
         WHERE ${HERE} AND priority = ? AND scheduled_at > ? ORDER BY scheduled_at LIMIT 1`,
      )
      .pluck()
      .safeIntegers(false);
  }

  /** Lets the request's judge decide on each job it has room for, and writes what it decides. */
  run(request: ClaimRequest): { nextDueAt: number | null } {
    /** Jobs the judge left alone: they stay at the head of the line, and must not keep the others from being seen. */
    const passedBy: number[] = [];
    for (;;) {
      const { candidates, nextDueAt } = this.#look(request, passedBy);
      let again = false;
      for (const candidate of candidates) {
        if (!request.admit(candidate.want)) continue;
        const change = request.judge(this.#jobs.record(candidate.row));
        if (change) this.#jobs.apply(change);
        else passedBy.push(candidate.n);
        // The room kept for it may be had by the next in line.
        if (change?.job.status !== 'active') again = true;
      }
      if (!again) return { nextDueAt };
    }
  }

  /** The due jobs of all wants in their order, and when the next one will be due where there is room left. */
  #look({ wants, now }: ClaimRequest, passedBy: readonly number[]) {
    const candidates: Candidate[] = [];
    const without = JSON.stringify(passedBy);
    let nextDueAt: number | null = null;
    for (const want of wants) {
      const next = this.#collect(want, now, without, candidates);
      if (next !== null && (nextDueAt === null || next < nextDueAt)) nextDueAt = next;
    }
    if (wants.length > 1) candidates.sort(byTurn);
    return { candidates, nextDueAt };
  }

  /** Adds the want's due jobs; answers with when the next one will be due, unless the want was filled. */
  #collect(want: Want, now: number, without: string, into: Candidate[]): number | null {
    let room = want.limit;
    let nextDueAt: number | null = null;
    let priority = this.#topPriority.get(want.pipeline, want.phaseIndex, Number.MAX_SAFE_INTEGER + 1);
    while (priority !== undefined) {
      for (const row of this.#due.all(want.pipeline, want.phaseIndex, priority, now, without, room)) {
        into.push({ want, row, priority, ...placeInLine(row) });
        room--;
      }
      if (room <= 0) return null;
      const next = this.#nextDue.get(want.pipeline, want.phaseIndex, priority, now);
      if (next !== undefined && (nextDueAt === null || next < nextDueAt)) nextDueAt = next;
      priority = this.#topPriority.get(want.pipeline, want.phaseIndex, priority);
    }
    return nextDueAt;
  }
}

function byTurn(a: Candidate, b: Candidate): number {
  return b.priority - a.priority || a.scheduledAt - b.scheduledAt || a.n - b.n;
}
