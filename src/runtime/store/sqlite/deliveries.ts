/**
 * The outbox of webhooks. Only the first owed delivery of a job has a time at which it is due; the next one gets its own
 * when that one is done with, so order per job needs no looking. A claim is that time moved on, with an owner and a fence.
 */
import type { Database, Statement } from 'better-sqlite3';
import type { JobEventName } from '../../../actors/vocabulary.ts';
import type {
  ClaimedDeliveries,
  ClaimedDelivery,
  DeliveryClaim,
  DeliveryEnd,
  DeliveryRecord,
  DeliveryRequest,
  NewDelivery,
} from '../delivery.ts';

interface DeliveryRow {
  readonly id: string;
  readonly job_id: string;
  readonly type: JobEventName;
  readonly url: string;
  readonly origin: string;
  readonly body: string;
  readonly attempts: number;
  readonly next_at: number | null;
  readonly fence: number;
  readonly error: string | null;
  readonly created_at: number;
  readonly failed_at: number | null;
}

/** Where something is due sooner or later. */
interface Head {
  readonly signed: number;
  readonly origin: string;
}

const DUE = 'FROM millrace_deliveries WHERE signed = ? AND next_at IS NOT NULL';

/** Rows forgotten per look, so that no look takes long. */
const FORGET_BATCH = 500;

export class DeliveryTable {
  readonly #insert: Statement<unknown[]>;
  readonly #head: Statement<[number, string], Head>;
  readonly #due: Statement<[number, string, number, number], DeliveryRow>;
  readonly #nextDue: Statement<[number, string, number], number>;
  readonly #claim: Statement<[string, number, string]>;
  readonly #held: Statement<[string, number], string>;
  readonly #delete: Statement<[string]>;
  readonly #postpone: Statement<[number, string, string]>;
  readonly #fail: Statement<[number, string, string]>;
  readonly #promote: Statement<[string]>;
  readonly #release: Statement<[string]>;
  readonly #forget: Statement<[number, number]>;
  readonly #ofJob: Statement<[string], DeliveryRow>;

  constructor(db: Database) {
    this.#insert = db.prepare(
      `INSERT INTO millrace_deliveries (id, job_id, type, url, origin, signed, body, created_at, next_at)
       VALUES ($id, $jobId, $type, $url, $origin, $signed, $body, $at, CASE WHEN EXISTS
         (SELECT 1 FROM millrace_deliveries WHERE job_id = $jobId AND failed_at IS NULL) THEN NULL ELSE $at END)`,
    );
    this.#head = db
      .prepare<[number, string], Head>(`SELECT signed, origin ${DUE} AND origin > ? ORDER BY origin LIMIT 1`)
      .safeIntegers(false);
    this.#due = db
      .prepare<[number, string, number, number], DeliveryRow>(
        `SELECT * ${DUE} AND origin = ? AND next_at <= ? ORDER BY next_at, n LIMIT ?`,
      )
      .safeIntegers(false);
    this.#nextDue = db
      .prepare<[number, string, number], number>(
        `SELECT next_at ${DUE} AND origin = ? AND next_at > ? ORDER BY next_at LIMIT 1`,
      )
      .pluck()
      .safeIntegers(false);
    this.#claim = db.prepare('UPDATE millrace_deliveries SET owner = ?, next_at = ?, fence = fence + 1 WHERE id = ?');
    this.#held = db
      .prepare<[string, number], string>(
        'SELECT job_id FROM millrace_deliveries WHERE id = ? AND fence = ? AND owner IS NOT NULL',
      )
      .pluck();
    this.#delete = db.prepare('DELETE FROM millrace_deliveries WHERE id = ?');
    this.#postpone = db.prepare(
      'UPDATE millrace_deliveries SET owner = NULL, attempts = attempts + 1, next_at = ?, error = ? WHERE id = ?',
    );
    this.#fail = db.prepare(
      `UPDATE millrace_deliveries SET owner = NULL, attempts = attempts + 1, next_at = NULL, failed_at = ?, error = ?
       WHERE id = ?`,
    );
    this.#promote = db.prepare(
      `UPDATE millrace_deliveries SET next_at = created_at WHERE next_at IS NULL AND n =
         (SELECT min(n) FROM millrace_deliveries WHERE job_id = ? AND failed_at IS NULL)`,
    );
    this.#release = db.prepare('UPDATE millrace_deliveries SET owner = NULL, next_at = created_at WHERE owner = ?');
    this.#forget = db.prepare(
      `DELETE FROM millrace_deliveries WHERE n IN
         (SELECT n FROM millrace_deliveries WHERE failed_at < ? ORDER BY failed_at LIMIT ?)`,
    );
    this.#ofJob = db
      .prepare<[string], DeliveryRow>('SELECT * FROM millrace_deliveries WHERE job_id = ? ORDER BY n')
      .safeIntegers(false);
  }

  /** Call it when the transition has its position: the body tells it. */
  owe({ id, url, signed, event }: NewDelivery): void {
    this.#insert.run({
      id,
      jobId: event.job.id,
      type: event.type,
      url,
      origin: new URL(url).origin,
      signed: signed ? 1 : 0,
      body: JSON.stringify(event),
      at: event.at,
    });
  }

  claim(request: DeliveryRequest): ClaimedDeliveries {
    const { now, owner, until, limit } = request;
    this.#forget.run(request.forgetFailedBefore, FORGET_BATCH);
    const deliveries: ClaimedDelivery[] = [];
    let nextAt = Number.POSITIVE_INFINITY;
    for (const { signed, origin } of this.#heads(request)) {
      // An endpoint may be owed signed and unsigned ones: both share its room.
      const taken = deliveries.filter((delivery) => delivery.origin === origin).length;
      const space = Math.min(request.room(origin) - taken, limit - deliveries.length);
      if (space <= 0) continue;
      nextAt = Math.min(nextAt, this.#nextDue.get(signed, origin, now) ?? nextAt);
      for (const row of this.#due.all(signed, origin, now, space)) {
        this.#claim.run(owner, until, row.id);
        deliveries.push(toClaimed(row));
      }
    }
    return { deliveries, nextAt: Number.isFinite(nextAt) ? nextAt : null };
  }

  settle({ id, fence }: DeliveryClaim, end: DeliveryEnd): boolean {
    const jobId = this.#held.get(id, fence);
    if (jobId === undefined) return false;
    if (end.type === 'postponed') {
      this.#postpone.run(end.nextAt, end.error, id);
      return true;
    }
    if (end.type === 'arrived') this.#delete.run(id);
    else this.#fail.run(end.at, end.error, id);
    this.#promote.run(jobId);
    return true;
  }

  /** What this runtime was sending is anybody's. */
  release(runtimeId: string): void {
    this.#release.run(runtimeId);
  }

  ofJob(jobId: string): readonly DeliveryRecord[] {
    return this.#ofJob.all(jobId).map(toRecord);
  }

  /** One seek per origin; those after the last one served come first. */
  #heads({ signed, after }: DeliveryRequest): readonly Head[] {
    const heads: Head[] = [];
    for (const kind of signed ? [1, 0] : [0]) {
      let head = this.#head.get(kind, '');
      while (head) {
        heads.push(head);
        head = this.#head.get(kind, head.origin);
      }
    }
    const first = heads.findIndex(({ origin }) => origin > after);
    return first <= 0 ? heads : [...heads.slice(first), ...heads.slice(0, first)];
  }
}

function toClaimed(row: DeliveryRow): ClaimedDelivery {
  return {
    id: row.id,
    fence: row.fence + 1,
    jobId: row.job_id,
    type: row.type,
    url: row.url,
    origin: row.origin,
    body: row.body,
    attempts: row.attempts,
  };
}

function toRecord(row: DeliveryRow): DeliveryRecord {
  return {
    id: row.id,
    jobId: row.job_id,
    type: row.type,
    url: row.url,
    status: row.failed_at === null ? 'owed' : 'failed',
    attempts: row.attempts,
    nextAttemptAt: row.next_at,
    error: row.error,
    createdAt: row.created_at,
  };
}
