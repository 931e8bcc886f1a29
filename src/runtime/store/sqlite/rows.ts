/** A job record as columns, and back. What is written and what is read are one list each, side by side. */
import { freshPhase } from '../../../actors/lifecycle.ts';
import type { Failure, JobRecord, JobStatus, PhaseState, TransitionRecord } from '../../../actors/vocabulary.ts';

type Value = string | number | null;

/** A column, the field it keeps, and how it is written if not as it is. */
export type Column = readonly [name: string, field: keyof JobRecord, write?: (job: JobRecord) => Value];

/** Data longer than this many characters is kept in millrace_payloads: it would be rewritten with every update of the row. */
const INLINE_DATA = 2048;

/** Columns that are written once, at birth. */
const BIRTH_COLUMNS: readonly Column[] = [
  ['id', 'id'],
  ['pipeline', 'pipeline'],
  ['priority', 'priority'],
  ['max_attempts', 'maxAttempts'],
  ['created_at', 'createdAt'],
  ['timeout_ms', 'timeoutMs'],
  ['webhook_url', 'webhookUrl'],
];

/** Columns that a transition may change. */
export const STATE_COLUMNS: readonly Column[] = [
  ['status', 'status'],
  ['machine_version', 'machineVersion'],
  ['scheduled_at', 'scheduledAt'],
  ['phase_index', 'phaseIndex'],
  ['current_phase', 'currentPhase'],
  ['attempt', 'attempt'],
  ['seq', 'seq'],
  ['fence', 'fence'],
  ['lease_owner', 'leaseOwner'],
  ['lease_expires_at', 'leaseExpiresAt'],
  ['progress', 'progress'],
  ['progress_message', 'progressMessage'],
  ['updated_at', 'updatedAt'],
  ['started_at', 'startedAt'],
  ['attempt_at', 'attemptAt'],
  ['finished_at', 'finishedAt'],
  ['stale_at', 'staleAt'],
  ['expires_at', 'expiresAt'],
  ['timeout_at', 'timeoutAt'],
  ['webhook_sent', 'webhookSent', (job) => (job.webhookSent ? 1 : 0)],
  ['reason', 'reason'],
  ['error', 'error', (job) => (job.error ? JSON.stringify(job.error) : null)],
  ['phases', 'phases', (job) => (isUntouched(job) ? null : JSON.stringify(job.phases))],
];

const INSERT_COLUMNS = [...BIRTH_COLUMNS, ...STATE_COLUMNS];

/** `INSERT INTO millrace_jobs …`; takes {@link insertValues}. */
export const INSERT_JOB = `INSERT INTO millrace_jobs (${INSERT_COLUMNS.map(([name]) => name).join(', ')}, data)
  VALUES (${INSERT_COLUMNS.map(() => '?').join(', ')}, ?)`;

/** The data as JSON, and whether it is short enough to live in the row. */
export function packData(job: JobRecord): { body: string; inline: boolean } {
  const body = JSON.stringify(job.data) ?? 'null';
  return { body, inline: body.length <= INLINE_DATA };
}

export function insertValues(job: JobRecord, inlineData: string | null): Value[] {
  const values = INSERT_COLUMNS.map((column) => columnValue(column, job));
  values.push(inlineData);
  return values;
}

/** What a column is to hold. */
export function columnValue([, field, write]: Column, job: JobRecord): Value {
  return write ? write(job) : (job[field] as Value);
}

/** Columns as they are read: in this order, as an array, which the driver makes in half the time of an object. */
export const JOB_COLUMNS = `n, id, pipeline, machine_version, status, priority, scheduled_at, phase_index, current_phase, attempt,
  max_attempts, seq, fence, lease_owner, lease_expires_at, progress, progress_message, created_at, updated_at, started_at,
  attempt_at, finished_at, stale_at, expires_at, timeout_ms, timeout_at, webhook_url, webhook_sent, reason, error, phases, data`;

/** A row of millrace_jobs: {@link JOB_COLUMNS}. */
export type JobRow = readonly [
  n: number,
  id: string,
  pipeline: string,
  machineVersion: number,
  status: JobStatus,
  priority: number,
  scheduledAt: number,
  phaseIndex: number,
  currentPhase: string | null,
  attempt: number,
  maxAttempts: number,
  seq: number,
  fence: number,
  leaseOwner: string | null,
  leaseExpiresAt: number | null,
  progress: number,
  progressMessage: string | null,
  createdAt: number,
  updatedAt: number,
  startedAt: number | null,
  attemptAt: number | null,
  finishedAt: number | null,
  staleAt: number | null,
  expiresAt: number | null,
  timeoutMs: number | null,
  timeoutAt: number | null,
  webhookUrl: string | null,
  webhookSent: number,
  reason: string | null,
  error: string | null,
  phases: string | null,
  data: string | null,
];

/** What a row does not hold itself. */
export interface KeptApart {
  /** Values by name, `''` being the job's data. */
  payloads(id: string): ReadonlyMap<string, string>;
  /** The phase list of a machine version. */
  phases(machineVersion: number): readonly string[];
}

const NO_PAYLOADS: ReadonlyMap<string, string> = new Map();

export function toRecord(row: JobRow, apart: KeptApart): JobRecord {
  // biome-ignore format: read beside JOB_COLUMNS
  const [
    , id, pipeline, machineVersion, status, priority, scheduledAt, phaseIndex, currentPhase, attempt,
    maxAttempts, seq, fence, leaseOwner, leaseExpiresAt, progress, progressMessage, createdAt, updatedAt, startedAt,
    attemptAt, finishedAt, staleAt, expiresAt, timeoutMs, timeoutAt, webhookUrl, webhookSent, reason, error, phases, data,
  ] = row;
  const payloads = idOfPayloads(row) === null ? NO_PAYLOADS : apart.payloads(id);
  const phaseResults: Record<string, unknown> = {};
  for (const [name, body] of payloads) if (name !== '') phaseResults[name] = JSON.parse(body);
  // The same keys in the same order as at birth: all records have one shape.
  return {
    id,
    pipeline,
    status,
    data: JSON.parse(data ?? payloads.get('') ?? 'null'),
    priority,
    attempt,
    maxAttempts,
    currentPhase,
    phases: phases === null ? apart.phases(machineVersion).map(freshPhase) : (JSON.parse(phases) as PhaseState[]),
    phaseIndex,
    phaseResults,
    progress,
    progressMessage,
    error: error === null ? null : (JSON.parse(error) as Failure),
    reason,
    scheduledAt,
    expiresAt,
    timeoutMs,
    timeoutAt,
    webhookUrl,
    webhookSent: webhookSent === 1,
    createdAt,
    updatedAt,
    startedAt,
    attemptAt,
    finishedAt,
    staleAt,
    seq,
    fence,
    leaseOwner,
    leaseExpiresAt,
    machineVersion,
  };
}

/** Under which id a row's payloads are found; `null` if it needs none, as most jobs that were never run. */
export function idOfPayloads(row: JobRow): string | null {
  const [, id, , , , , , phaseIndex] = row;
  return row.at(-1) !== null && phaseIndex === 0 ? null : id;
}

/** What decides whose turn it is among jobs of a priority. */
export function placeInLine([n, , , , , , scheduledAt]: JobRow): { n: number; scheduledAt: number } {
  return { n, scheduledAt };
}

/** How old the job is: the order of birth. */
export function ageOf([n]: JobRow): number {
  return n;
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
