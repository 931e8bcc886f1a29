/** Wires the rooms together when a queue begins, and takes them apart when it ends. What each room does is its own business. */
import { ThreadPool, type ThreadPoolOptions } from '../threads/pool.ts';
import { startLoops } from './background/loops.ts';
import { Sender } from './background/sender.ts';
import type { Settings } from './config.ts';
import { WebhookDispatcher } from './edges/webhooks/dispatcher.ts';
import { ShuttingDownError } from './errors.ts';
import { checkHandlers, threadPipelines } from './handler-check.ts';
import { newJobId } from './job-id.ts';
import { EventStreams } from './journal/event-streams.ts';
import { InspectFeed } from './journal/inspect-feed.ts';
import { Teller } from './journal/teller.ts';
import { INLINE_LANE, threadLane } from './phase.ts';
import type { AnyPipeline } from './pipeline.ts';
import { thisRuntime } from './process-identity.ts';
import { Results } from './results.ts';
import { bringToRest, type ShutdownOptions } from './shutdown.ts';
import type { Store } from './store/port.ts';
import { SqliteStore } from './store/sqlite/sqlite-store.ts';
import { Capacity } from './supervisor/capacity.ts';
import { Charts } from './supervisor/charts.ts';
import { Dispatcher } from './supervisor/dispatcher.ts';
import { owedBy } from './supervisor/owed.ts';
import { Performer } from './supervisor/performer.ts';
import { Supervisor } from './supervisor/supervisor.ts';
import { poolsInUse } from './thread-options.ts';
import { warnOfIdleRetries } from './warnings.ts';

export class Engine {
  readonly settings: Settings;
  readonly pipelines: ReadonlyMap<string, AnyPipeline>;
  readonly store: Store;
  readonly charts: Charts;
  readonly teller: Teller;
  readonly results: Results;
  readonly streams: EventStreams;
  readonly performer: Performer;
  readonly supervisor: Supervisor;
  readonly loops: ReturnType<typeof startLoops>;
  /** Resolves when every thread handler has been loaded once; rejects if one cannot be. */
  readonly ready: Promise<void>;
  readonly #pools: ReadonlyMap<string, ThreadPool>;
  readonly #dispatcher: Dispatcher;
  readonly #sender: Sender;
  readonly #runtimeId: string;
  #isStopping = false;
  /** A queue that runs jobs is a service: it keeps its process alive until it is shut down. */
  readonly #keepAlive: NodeJS.Timeout | undefined;

  /** Opens and migrates the database, takes up orphaned jobs and starts to run due ones. */
  static start(settings: Settings): Engine {
    const store = new SqliteStore({ ...settings, phaseLists: settings.pipelines.map(phaseListOf) });
    try {
      return new Engine(settings, store);
    } catch (error) {
      // Threads that cannot be made with these options, say: nobody will ever shut this queue down.
      void store.close();
      throw error;
    }
  }

  private constructor(settings: Settings, store: Store) {
    const { clock, leaseMs, maxPayloadBytes, maxBlobBytes, threads } = settings;
    const pipelines = new Map(settings.pipelines.map((pipeline) => [pipeline.name, pipeline]));
    const runtime = thisRuntime();
    const wake = () => this.supervisor.wake();
    this.settings = settings;
    this.pipelines = pipelines;
    this.store = store;
    this.charts = new Charts(settings.pipelines, this.store.machineVersions, settings.onPhasesChanged);
    this.teller = new Teller(settings.retention ?? {});
    this.results = new Results(this.store, clock);
    const pools = settings.claim ? poolsInUse(threads, settings.pipelines) : new Map<string, never>();
    this.#pools = new Map([...pools].map(([name, options]) => [name, this.#openPool(name, options)]));
    const lanes = [...pools].map(([name, { count }]) => [threadLane(name), count] as const);
    this.streams = new EventStreams({ store: this.store, teller: this.teller, clock });
    const capacity = new Capacity({
      lanes: new Map([[INLINE_LANE, settings.concurrency], ...lanes]),
      pipelines: limitsOf(settings.pipelines),
    });
    this.performer = new Performer({
      pipelines,
      capacity,
      clock,
      maxPayloadBytes,
      maxBlobBytes,
      pools: this.#pools,
      printLogs: threads?.printLogs ?? false,
      isShuttingDown: () => this.#isStopping,
      blobs: (jobId, phase) => this.store.blobs(jobId, phase),
      log: (line) => this.supervisor.log(line),
      post: (message, withinMs) =>
        withinMs === undefined ? this.supervisor.post(message) : this.supervisor.postWithin(message, withinMs),
      onRoom: wake,
    });
    this.#dispatcher = new Dispatcher({
      pipelines,
      capacity,
      clock,
      owner: runtime.id,
      leaseMs,
      mostPhases: this.store.mostPhases,
      isLeaving: (jobId) => this.performer.isLeaving(jobId),
      givesUp: settings.onPhasesChanged === 'fail',
      barred: threadPipelines(settings.pipelines).map(({ name }) => name),
      wake,
      onError: (error) => this.teller.report(error, 'a claim'),
    });
    if (!settings.claim) this.#dispatcher.close();
    this.#sender = new Sender({
      store: this.store,
      clock,
      settings: settings.webhooks,
      courier: new WebhookDispatcher(settings.webhooks, clock),
      owner: runtime.id,
      post: (message) => this.supervisor.post(message),
      tell: (event) => this.teller.webhook(event),
      report: (error, during) => this.teller.report(error, during),
    });
    this.supervisor = new Supervisor({
      store: this.store,
      charts: this.charts,
      capacity,
      teller: this.teller,
      performer: this.performer,
      dispatcher: this.#dispatcher,
      owner: runtime.id,
      owed: owedBy(settings.webhooks, newDeliveryId),
      onOwed: () => this.#sender.wake(),
      onPoint: settings.onPoint,
    });
    this.teller.onTransition((job) => this.results.told(job));
    if (settings.inspect) {
      const feed = new InspectFeed(settings.inspect, runtime.id, (job) => this.charts.asBorn(job).chart.machine);
      this.teller.onTransition((job, transition) => feed.transition(job, transition));
    }
    this.#runtimeId = runtime.id;
    this.loops = startLoops({
      settings,
      store: this.store,
      supervisor: this.supervisor,
      runtime,
      teller: this.teller,
      sender: this.#sender,
    });
    this.ready = this.#checkHandlers();
    // Reported already; whoever awaits it hears of it again.
    this.ready.catch(() => {});
    this.#keepAlive = settings.claim ? setInterval(() => {}, 2 ** 30) : undefined;
    warnOfIdleRetries(settings.pipelines);
  }

  #openPool(name: string, options: Omit<ThreadPoolOptions, 'onError'>): ThreadPool {
    return new ThreadPool({ ...options, onError: (error) => this.teller.report(error, `a thread of pool "${name}"`) });
  }

  /** Jobs of pipelines with thread phases are claimed when their handlers have been found good. */
  async #checkHandlers(): Promise<void> {
    const { pipelines, threads, claim } = this.settings;
    const mine = threadPipelines(pipelines);
    if (!claim || mine.length === 0) return;
    // Pools differ in their options; whatever can be loaded in one is taken to be good for all.
    const [options = {}] = poolsInUse(threads, mine).values();
    const problem = await checkHandlers(mine, options);
    const bad = new Set(problem?.handlers.map(({ pipeline }) => pipeline));
    for (const { name } of mine) if (!bad.has(name) || isWarning(this.settings)) this.#dispatcher.unbar(name);
    if (!problem) return;
    this.teller.report(problem, 'loading the handlers');
    if (!isWarning(this.settings)) throw problem;
  }

  /** Brings everything to rest and closes it. Always ends; rejects, after cleaning up, if jobs had to be stopped. */
  async stop(options: ShutdownOptions): Promise<void> {
    this.#isStopping = true;
    this.#dispatcher.close();
    await this.loops.stopAll();
    const parts = { supervisor: this.supervisor, performer: this.performer, ...this.settings };
    const begun = performance.now();
    const late = await bringToRest(parts, options);
    await this.#sender.stop((options.timeoutMs ?? 30_000) - (performance.now() - begun));
    await this.loops.stopHeartbeat();
    this.supervisor.close();
    this.results.close(new ShuttingDownError());
    await this.streams.end();
    this.teller.bus.clear();
    await Promise.all([...this.#pools.values()].map((pool) => pool.close()));
    // A lock that outlasts our patience must not keep the file open; a forgotten registration does no harm.
    await this.store.unregister(this.#runtimeId).catch(() => {});
    await this.store.close();
    clearInterval(this.#keepAlive);
    if (late) throw late;
  }
}

function isWarning(settings: Settings): boolean {
  return settings.threads?.badHandler === 'warning';
}

function phaseListOf({ name, phases }: AnyPipeline) {
  return { pipeline: name, phases: phases.map((phase) => phase.name) };
}

function limitsOf(pipelines: readonly AnyPipeline[]): ReadonlyMap<string, number> {
  return new Map(
    pipelines.flatMap(({ name, settings }) => (settings.concurrency ? [[name, settings.concurrency]] : [])),
  );
}

function newDeliveryId(at: number): string {
  return `msg_${newJobId(at)}`;
}
