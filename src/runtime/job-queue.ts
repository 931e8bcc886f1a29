/** The public face: a contents page of typed verbs. The rooms behind it are wired in `engine.ts`. */
import { allowedActions } from '../actors/job-actor.ts';
import type { JobAction } from '../actors/job-events.ts';
import { requireStorable } from '../actors/json.ts';
import type { JobRecord, JobStatus, LogLine, TransitionRecord } from '../actors/vocabulary.ts';
import { type JobQueueConfig, parseConfig } from './config.ts';
import { Engine } from './engine.ts';
import { InvalidInputError, NotFoundError, ShuttingDownError } from './errors.ts';
import type { QueueEvents } from './journal/events.ts';
import { type EventStreamOptions, requireStreamOptions } from './journal/stream-options.ts';
import { type ListOptions, requireFilter } from './list-filter.ts';
import { requireJobId, requireOptions, requireText, show } from './options.ts';
import type { AnyPipeline, InputOf, JobOf, NameOf, ResultOf } from './pipeline.ts';
import { resultWithBlobs } from './results.ts';
import { requireShutdown, type ShutdownOptions } from './shutdown.ts';
import type { DeliveryRecord } from './store/delivery.ts';
import type { JobPage } from './store/port.ts';
import { chosenIds, type EnqueueOptions, type GivenJob, prepareBirths } from './supervisor/enqueue.ts';
import type { Supervisor } from './supervisor/supervisor.ts';

declare const resultOf: unique symbol;

/** The id of a job; a string that remembers, for the compiler alone, what the job's result will be. */
export type JobId<Result = unknown> = string & { readonly [resultOf]?: Result };

/** How many jobs there are. */
export interface QueueStats {
  readonly jobs: Readonly<Partial<Record<JobStatus, number>>>;
  readonly pipelines: Readonly<Record<string, Readonly<Partial<Record<JobStatus, number>>>>>;
  /** Handlers running in this process now. */
  readonly running: number;
}

/** One job of `enqueueMany`. */
export type NewJob<P extends AnyPipeline> = P extends AnyPipeline
  ? { readonly name: NameOf<P>; readonly data: InputOf<P>; readonly options?: EnqueueOptions }
  : never;

type Named<P extends AnyPipeline, Name> = P extends AnyPipeline ? (NameOf<P> extends Name ? P : never) : never;

/** A durable job queue in this process, on one SQLite database. */
export class JobQueue<const Pipelines extends readonly AnyPipeline[] = readonly AnyPipeline[]> {
  readonly #engine: Engine;
  #shutdown: Promise<void> | null = null;

  /** Checks the configuration, opens and migrates the database, takes up orphaned jobs and starts to run due ones. */
  constructor(config: JobQueueConfig<Pipelines>) {
    this.#engine = Engine.start(parseConfig(config));
  }

  /** Stores a job; it is durable when the promise resolves, and runs as soon as it is due and there is room. */
  async enqueue<Name extends NameOf<Pipelines[number]>>(
    name: Name,
    data: InputOf<Named<Pipelines[number], Name>>,
    options: EnqueueOptions = {},
  ): Promise<JobId<ResultOf<Named<Pipelines[number], Name>>>> {
    const [id] = await this.#enqueue([{ name, data, options }]);
    return id as JobId<ResultOf<Named<Pipelines[number], Name>>>;
  }

  /** Stores many jobs in one commit: all of them, or, if one is refused, none. */
  async enqueueMany(jobs: readonly NewJob<Pipelines[number]>[]): Promise<JobId[]> {
    if (!Array.isArray(jobs)) throw new InvalidInputError('jobs', 'must be a list of { name, data, options? }.');
    for (const [index, job] of jobs.entries()) requireOptions(job, `jobs[${index}]`, ['name', 'data', 'options']);
    return this.#enqueue(jobs);
  }

  /** Stops a job for good, running or not. Its unfinished phases are marked cancelled. */
  async cancel(id: string, reason: string | null = null): Promise<JobOf<Pipelines[number]>> {
    requireText(reason, 'reason');
    return this.#tell(id, { type: 'cancel', at: this.#now(), reason });
  }

  /** Runs a failed, cancelled, stale or paused job again: its unfinished phases only, with a fresh set of attempts. */
  retry(id: string): Promise<JobOf<Pipelines[number]>> {
    return this.#tell(id, { type: 'retry', at: this.#now() });
  }

  /** Puts a job aside; a running one is stopped and does not lose an attempt. */
  async pause(id: string, reason: string | null = null): Promise<JobOf<Pipelines[number]>> {
    requireText(reason, 'reason');
    return this.#tell(id, { type: 'pause', at: this.#now(), reason });
  }

  /** Lets a paused job go on. */
  resume(id: string): Promise<JobOf<Pipelines[number]>> {
    return this.#tell(id, { type: 'resume', at: this.#now() });
  }

  /** Completes a job from outside; `result` stands in for its last phase's. A running handler is told `already_completed`. */
  async complete(id: string, result?: unknown): Promise<JobOf<Pipelines[number]>> {
    const given =
      result === undefined ? result : requireStorable(result, 'result', this.#engine.settings.maxPayloadBytes);
    return this.#tell(id, { type: 'complete', at: this.#now(), result: given });
  }

  /** The job's record, or `undefined` if there is no such job. */
  async getJob(id: string): Promise<JobOf<Pipelines[number]> | undefined> {
    this.#requireOpen();
    return (await this.#engine.store.getJob(requireJobId(id))) as JobOf<Pipelines[number]> | undefined;
  }

  /** A page of jobs, newest first. */
  async listJobs(options: ListOptions = {}): Promise<JobPage<JobOf<Pipelines[number]>>> {
    this.#requireOpen();
    const { limit, cursor, filter } = requireFilter(options);
    return (await this.#engine.store.listJobs(filter, limit, cursor)) as JobPage<JobOf<Pipelines[number]>>;
  }

  /** Numbers of jobs by status and pipeline. Costs the same however many jobs there are. */
  async stats(): Promise<QueueStats> {
    this.#requireOpen();
    const jobs: Partial<Record<JobStatus, number>> = {};
    const pipelines: Record<string, Partial<Record<JobStatus, number>>> = {};
    for (const { pipeline, status, jobs: count } of await this.#engine.store.counts()) {
      jobs[status] = (jobs[status] ?? 0) + count;
      pipelines[pipeline] = { ...pipelines[pipeline], [status]: count };
    }
    return { jobs, pipelines, running: this.#engine.performer.running };
  }

  /** A job's log, oldest first; also of a deleted job, until the log is pruned. */
  async transitions(id: string): Promise<readonly TransitionRecord[]> {
    this.#requireOpen();
    const entries = await this.#engine.store.transitions(requireJobId(id));
    if (entries.length === 0 && !(await this.#engine.store.getJob(id))) throw new NotFoundError(id);
    return entries;
  }

  /** The job's webhooks that are still owed or were given up, oldest first; also of a deleted job. Arrived ones are not kept. */
  async deliveries(id: string): Promise<readonly DeliveryRecord[]> {
    this.#requireOpen();
    return this.#engine.store.deliveries(requireJobId(id));
  }

  /** Waits for the job's end; rejects with `JobFailedError`, `JobCancelledError` or `NotFoundError`. */
  async result<Result = unknown>(id: JobId<Result> | string): Promise<Result> {
    this.#requireOpen();
    return (await this.#engine.results.wait(requireJobId(id))) as Result;
  }

  /** The result of one phase, with its bytes; `undefined` if it has none (yet). */
  async phaseResult(id: string, phase: string): Promise<unknown> {
    this.#requireOpen();
    const { store } = this.#engine;
    const job = await store.getJob(requireJobId(id));
    if (!job) throw new NotFoundError(id);
    if (!job.phases.some(({ name }) => name === phase)) {
      const names = job.phases.map(({ name }) => name).join(', ');
      throw new InvalidInputError('phase', `job "${id}" has no phase ${show(phase)}; it has ${names}.`);
    }
    return resultWithBlobs(store, job, phase);
  }

  /** The lines the job's handlers wrote with `ctx.log` or, on threads, `console`; oldest first. */
  async logs(id: string): Promise<readonly LogLine[]> {
    this.#requireOpen();
    const { store } = this.#engine;
    const lines = await store.logs(requireJobId(id));
    if (lines.length === 0 && !(await store.getJob(id))) throw new NotFoundError(id);
    return lines;
  }

  /** Resolves when every thread handler has been loaded once; rejects with `BadHandlerError` if one cannot be. */
  ready(): Promise<void> {
    return this.#engine.ready;
  }

  /** What may be done to the job in its present state. */
  allowedEvents(job: JobRecord): readonly JobAction[] {
    const { charts } = this.#engine;
    const going = charts.toRun(job);
    const { chart, job: judged } = going ?? charts.asBorn(job);
    const actions = allowedActions(chart, judged);
    return going ? actions : actions.filter((action) => action !== 'retry' && action !== 'resume');
  }

  /** Listens; called after the commit. Answers with a function that stops listening. */
  on<Name extends keyof QueueEvents>(
    name: Name,
    listener: (event: QueueEvents<JobOf<Pipelines[number]>>[Name]) => void,
  ): () => void {
    return this.#engine.teller.bus.on(name, listener as (event: QueueEvents[Name]) => void);
  }

  /** Listens once. */
  once<Name extends keyof QueueEvents>(
    name: Name,
    listener: (event: QueueEvents<JobOf<Pipelines[number]>>[Name]) => void,
  ): () => void {
    return this.#engine.teller.bus.once(name, listener as (event: QueueEvents[Name]) => void);
  }

  /** Stops listening. */
  off<Name extends keyof QueueEvents>(
    name: Name,
    listener: (event: QueueEvents<JobOf<Pipelines[number]>>[Name]) => void,
  ): void {
    this.#engine.teller.bus.off(name, listener as (event: QueueEvents[Name]) => void);
  }

  /**
   * Everything that is committed from now on (or after `lastEventId`), by whatever process, as server-sent events: the
   * body of a `text/event-stream` response. Without gaps or duplicates across reconnects; a reader that stalls
   * costs next to nothing. Ends with the queue.
   */
  createEventStream(options: EventStreamOptions = {}): ReadableStream<Uint8Array> {
    this.#requireOpen();
    return this.#engine.streams.open(requireStreamOptions(options));
  }

  /**
   * Ends the queue in good order: no new claims, running jobs may finish for `timeoutMs`, then they are asked to stop and given back
   * (`onShutdown`). Always ends; rejects with `ShutdownTimeoutError`, after cleaning up, if jobs had to be stopped.
   */
  shutdown(options: ShutdownOptions = {}): Promise<void> {
    try {
      requireShutdown(options);
    } catch (error) {
      return Promise.reject(error);
    }
    this.#shutdown ??= this.#engine.stop(options);
    return this.#shutdown;
  }

  async #enqueue(jobs: readonly GivenJob[]): Promise<JobId[]> {
    this.#requireOpen();
    const { supervisor, loops, pipelines, charts, settings } = this.#engine;
    const { allowPrivateNetwork } = settings.webhooks;
    const nursery = { pipelines, charts, maxPayloadBytes: settings.maxPayloadBytes, allowPrivateNetwork };
    const births = await prepareBirths(nursery, jobs, this.#now());
    this.#requireOpen();
    if (births.length === 0) return [];
    await supervisor.bear(births, chosenIds(jobs));
    loops.bornWith(births);
    return births.map(({ job }) => job.id);
  }

  async #tell(id: string, event: Parameters<Supervisor['tell']>[1]): Promise<JobOf<Pipelines[number]>> {
    this.#requireOpen();
    return (await this.#engine.supervisor.tell(requireJobId(id), event)) as JobOf<Pipelines[number]>;
  }

  #requireOpen(): void {
    if (this.#shutdown) throw new ShuttingDownError();
  }

  #now(): number {
    return this.#engine.settings.clock.now();
  }
}
