/** Everything `import … from 'millrace'` offers. The only barrel. */
export { type Backoff, backoffMs } from './actors/backoff.ts';
export {
  FatalError,
  type PhaseContext,
  type PhaseHandler,
  PhaseStoppedError,
  RecoverableError,
  RetryAfter,
} from './actors/handler.ts';
export type { JobAction } from './actors/job-events.ts';
export { createJobMachine, type JobMachine, type MachineSpec } from './actors/job-machine.ts';
export {
  type Disposition,
  type Failure,
  JOB_EVENT_NAMES,
  JOB_STATUSES,
  type JobEventName,
  type JobRecord,
  type JobStatus,
  type PhaseState,
  type PhaseStatus,
  type StopReason,
  type TransitionRecord,
} from './actors/vocabulary.ts';
export type { RetentionOptions } from './runtime/background/pruner.ts';
export { type Clock, systemClock } from './runtime/clock.ts';
export type { JobQueueConfig, OnShutdown } from './runtime/config.ts';
export {
  ConflictError,
  InvalidInputError,
  JobCancelledError,
  JobFailedError,
  MillraceError,
  type MillraceErrorCode,
  NotFoundError,
  PhasesChangedError,
  ShutdownTimeoutError,
  ShuttingDownError,
  StoreUnavailableError,
  StreamRefusedError,
} from './runtime/errors.ts';
export { type JobId, JobQueue, type ListOptions, type NewJob, type QueueStats } from './runtime/job-queue.ts';
export { EventBus } from './runtime/journal/event-bus.ts';
export type {
  ErrorEvent,
  JobDeletedEvent,
  JobProgressEvent,
  JobTransitionEvent,
  JobWebhookEvent,
  QueueEvents,
} from './runtime/journal/events.ts';
export type { InspectObserver, InspectOption, InspectOptions } from './runtime/journal/inspect-feed.ts';
export { type SseMessage, SseSerializer } from './runtime/journal/sse-serializer.ts';
export type { PingEvent, ResetEvent, SnapshotEvent, StreamEvent } from './runtime/journal/stream-events.ts';
export type { EventFilter } from './runtime/journal/stream-filter.ts';
export type { EventStreamOptions } from './runtime/journal/stream-options.ts';
export {
  type AnyPipeline,
  type InputOf,
  type JobOf,
  type NameOf,
  type PhaseOptions,
  Pipeline,
  type PipelineOptions,
  pipeline,
  type ResultOf,
  type ResultsOf,
} from './runtime/pipeline.ts';
export { type RetryDecision, type RetryOptions, RetryStrategy } from './runtime/retry-strategy.ts';
export type { ShutdownOptions } from './runtime/shutdown.ts';
export type {
  Batch,
  BirthGroup,
  Change,
  ClaimRequest,
  Committed,
  HeldJob,
  JobCounts,
  JobFilter,
  JobPage,
  PhaseList,
  PhasesChangedPolicy,
  RuntimeIdentity,
  Store,
  Want,
} from './runtime/store/port.ts';
export type { Durability } from './runtime/store/sqlite/connection.ts';
export { SqliteStore, type SqliteStoreOptions } from './runtime/store/sqlite/sqlite-store.ts';
export type { EnqueueOptions } from './runtime/supervisor/enqueue.ts';
