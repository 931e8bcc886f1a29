/** A job record as columns, and back. What is written and what is read are one list each, side by side. */
import { freshPhase } from '../../../actors/lifecycle.ts';
import type { Failure, JobRecord, JobStatus, PhaseState, TransitionRecord } from '../../../actors/vocabulary.ts';

type Value = string | number | null;
type Column = readonly [name: string, of: (job: JobRecord) => Value];

/** Data longer than this many characters is kept in millrace_payloads: it would be rewritten with every update of the row. */
const INLINE_DATA = 2048;

/** Columns that are written once, at birth. */
const BIRTH_COLUMNS: readonly Column[] = [
  ['id', (job) => job.id],
  ['pipeline', (job) => job.pipeline],
  ['priority', (job) => job.priority],
  ['max_attempts', (job) => job.maxAttempts],
  ['created_at', (job) => job.createdAt],
  ['timeout_ms', (job) => job.timeoutMs],
  ['webhook_url', (job) => job.webhookUrl],
];

/** Columns that are written with every transition. */
const STATE_COLUMNS: readonly Column[] = [
  ['status', (job) => job.status],
  ['machine_version', (job) => job.machineVersion],
  ['scheduled_at', (job) => job.scheduledAt],
  ['phase_index', (job) => job.phaseIndex],
  ['current_phase', (job) => job.currentPhase],
  ['attempt', (job) => job.attempt],
  ['seq', (job) => job.seq],
  ['fence', (job) => job.fence],
  ['lease_owner', (job) => job.leaseOwner],
  ['progress', (job) => job.progress],
  ['progress_message', (job) => job.progressMessage],
  ['updated_at', (job) => job.updatedAt],
  ['started_at', (job) => job.startedAt],
  ['attempt_at', (job) => job.attemptAt],
  ['finished_at', (job) => job.finishedAt],
  ['stale_at', (job) => job.staleAt],
  ['expires_at', (job) => job.expiresAt],
  ['timeout_at', (job) => job.timeoutAt],
  ['webhook_sent', (job) => (job.webhookSent ? 1 : 0)],
  ['reason', (job) => job.reason],
  ['error', (job) => (job.error ? JSON.stringify(job.error) : null)],
  ['phases', (job) => (isUntouched(job) ? null : JSON.stringify(job.phases))],
];

/** Set by whoever delivers a webhook, perhaps while another process holds the job: its holder's next write must not take it back. */
const STICKY: ReadonlySet<string> = new Set(['webhook_sent']);

const INSERT_COLUMNS = [...BIRTH_COLUMNS, ...STATE_COLUMNS];

/** `INSERT INTO millrace_jobs …`; takes {@link insertValues}. */
export const INSERT_JOB = `INSERT INTO millrace_jobs (${INSERT_COLUMNS.map(([name]) => name).join(', ')}, data)
  VALUES (${INSERT_COLUMNS.map(() => '?').join(', ')}, ?)`;

/** `UPDATE millrace_jobs …` guarded by sequence number and fence; takes {@link updateValues}. */
export const UPDATE_JOB = `UPDATE millrace_jobs SET ${STATE_COLUMNS.map(([name]) => `${name} = ${STICKY.has(name) ? `max(${name}, ?)` : '?'}`).join(', ')},
  lease_expires_at = CASE WHEN fence = ? THEN max(lease_expires_at, ?) ELSE ? END
  WHERE id = ? AND seq = ? AND fence = ?`;

/** The data as JSON, and whether it is short enough to live in the row. */
export function packData(job: JobRecord): { body: string; inline: boolean } {
  const body = JSON.stringify(job.data) ?? 'null';
  return { body, inline: body.length <= INLINE_DATA };
}

export function insertValues(job: JobRecord, inlineData: string | null): Value[] {
  const values = INSERT_COLUMNS.map(([, of]) => of(job));
  values.push(inlineData);
  return values;
}

export function updateValues(job: JobRecord, expected: { seq: number; fence: number }): Value[] {
  const values = STATE_COLUMNS.map(([, of]) => of(job));
  // The holder may have been judged from an older lease than it has by now: a renewal is never taken back.
  values.push(job.fence, job.leaseExpiresAt, job.leaseExpiresAt, job.id, expected.seq, expected.fence);
  return values;
}

/** A row of millrace_jobs, as better-sqlite3 gives it. */
export interface JobRow {
  readonly n: number;
  readonly id: string;
  readonly pipeline: string;
  readonly machine_version: number;
  readonly status: JobStatus;
  readonly priority: number;
  readonly scheduled_at: number;
  readonly phase_index: number;
  readonly current_phase: string | null;
  readonly attempt: number;
  readonly max_attempts: number;
  readonly seq: number;
  readonly fence: number;
  readonly lease_owner: string | null;
  readonly lease_expires_at: number | null;
  readonly progress: number;
  readonly progress_message: string | null;
  readonly created_at: number;
  readonly updated_at: number;
  readonly started_at: number | null;
  readonly attempt_at: number | null;
  readonly finished_at: number | null;
  readonly stale_at: number | null;
  readonly expires_at: number | null;
  readonly timeout_ms: number | null;
  readonly timeout_at: number | null;
  readonly webhook_url: string | null;
  readonly webhook_sent: number;
  readonly reason: string | null;
  readonly error: string | null;
  readonly phases: string | null;
  readonly data: string | null;
}

/** Builds the record; `payloads` are the values kept apart, `names` the phase list of the row's machine version. */
export function toRecord(row: JobRow, payloads: ReadonlyMap<string, string>, names: readonly string[]): JobRecord {
  const phaseResults: Record<string, unknown> = {};
  for (const [name, body] of payloads) if (name !== '') phaseResults[name] = JSON.parse(body);
  return {
    id: row.id,
    pipeline: row.pipeline,
    status: row.status,
    data: JSON.parse(row.data ?? payloads.get('') ?? 'null'),
    priority: row.priority,
    attempt: row.attempt,
    maxAttempts: row.max_attempts,
    currentPhase: row.current_phase,
    phases: row.phases === null ? names.map(freshPhase) : (JSON.parse(row.phases) as PhaseState[]),
    phaseIndex: row.phase_index,
    phaseResults,
    progress: row.progress,
    progressMessage: row.progress_message,
    error: row.error === null ? null : (JSON.parse(row.error) as Failure),
    reason: row.reason,
    scheduledAt: row.scheduled_at,
    expiresAt: row.expires_at,
    timeoutMs: row.timeout_ms,
    timeoutAt: row.timeout_at,
    webhookUrl: row.webhook_url,
    webhookSent: row.webhook_sent === 1,
    createdAt: row.created_at,
    updatedAt: row.updated_at,
    startedAt: row.started_at,
    attemptAt: row.attempt_at,
    finishedAt: row.finished_at,
    staleAt: row.stale_at,
    seq: row.seq,
    fence: row.fence,
    leaseOwner: row.lease_owner,
    leaseExpiresAt: row.lease_expires_at,
    machineVersion: row.machine_version,
  };
}

/** Can a row be read without looking for payloads? True for most jobs that were never run. */
export function isSelfContained(row: JobRow): boolean {
  return row.data !== null && row.phase_index === 0;
}

/** A row of millrace_transitions. */
export interface TransitionRow {
  readonly position: number;
  readonly job_id: string;
  readonly pipeline: string;
  readonly seq: number;
  readonly from_state: string | null;
  readonly to_state: string;
  readonly event: string;
  readonly phase: string | null;
  readonly attempt: number;
  readonly error: string | null;
  readonly at: number;
}

export function toTransition(row: TransitionRow): TransitionRecord {
  return {
    position: row.position,
    jobId: row.job_id,
    pipeline: row.pipeline,
    seq: row.seq,
    from: row.from_state,
    to: row.to_state,
    event: row.event,
    phase: row.phase,
    attempt: row.attempt,
    error: row.error === null ? null : (JSON.parse(row.error) as Failure),
    at: row.at,
  };
}

function isUntouched(job: JobRecord): boolean {
  return job.startedAt === null && job.phases.every((phase) => phase.status === 'pending');
}
