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
  type BlobRef,
  type Disposition,
  type Failure,
  type FailureOutcome,
  JOB_EVENT_NAMES,
  JOB_STATUSES,
  type JobEventName,
  type JobRecord,
  type JobStatus,
  type LogLine,
  type PhaseState,
  type PhaseStatus,
  type PhaseUsage,
  type StopReason,
  type Stored,
  type TransitionRecord,
} from './actors/vocabulary.ts';
export type { RetentionOptions } from './runtime/background/pruner.ts';
export type { Attempt, Courier, Parcel } from './runtime/background/sender.ts';
export { type Clock, systemClock } from './runtime/clock.ts';
export type { JobQueueConfig, OnShutdown } from './runtime/config.ts';
export {
  type DeliverOptions,
  type DeliveryReport,
  WebhookDispatcher,
} from './runtime/edges/webhooks/dispatcher.ts';
export {
  verifyWebhook,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookToVerify,
  WebhookVerificationError,
} from './runtime/edges/webhooks/signature.ts';
export {
  type BadHandler,
  BadHandlerError,
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
export { type JobId, JobQueue, type NewJob, type QueueStats } from './runtime/job-queue.ts';
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
export type { ListOptions } from './runtime/list-filter.ts';
export {
  type PhaseOptions,
  type WorkerOptions,
  type WorkerPhase,
  worker,
} from './runtime/phase.ts';
export {
  type AnyPipeline,
  type InputOf,
  type JobOf,
  type NameOf,
  Pipeline,
  type PipelineOptions,
  pipeline,
  type ResultOf,
  type ResultsOf,
} from './runtime/pipeline.ts';
export { type RetryDecision, type RetryOptions, RetryStrategy } from './runtime/retry-strategy.ts';
export type { ShutdownOptions } from './runtime/shutdown.ts';
export type {
  ClaimedDeliveries,
  ClaimedDelivery,
  DeliveryClaim,
  DeliveryEnd,
  DeliveryRecord,
  DeliveryRequest,
  NewDelivery,
} from './runtime/store/delivery.ts';
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
export type { PoolOptions, ThreadOptions } from './runtime/thread-options.ts';
export {
  WEBHOOK_EVENTS,
  type WebhookEventName,
  type WebhookOptions,
  type WebhookPostOptions,
} from './runtime/webhook-options.ts';
export { ThreadPool, type ThreadPoolOptions } from './threads/pool.ts';
export type { ThreadOutcome, ThreadRun, ThreadTask } from './threads/thread-run.ts';
