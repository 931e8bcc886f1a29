/** Wires the rooms together when a queue begins, and takes them apart when it ends. What each room does is its own business. */
import { startLoops } from './background/loops.ts';
import type { Settings } from './config.ts';
import { ShuttingDownError } from './errors.ts';
import { EventStreams } from './journal/event-streams.ts';
import { InspectFeed } from './journal/inspect-feed.ts';
import { Teller } from './journal/teller.ts';
import type { AnyPipeline } from './pipeline.ts';
import { thisRuntime } from './process-identity.ts';
import { Results } from './results.ts';
import { bringToRest, type ShutdownOptions } from './shutdown.ts';
import type { Store } from './store/port.ts';
import { SqliteStore } from './store/sqlite/sqlite-store.ts';
import { Capacity } from './supervisor/capacity.ts';
import { Charts } from './supervisor/charts.ts';
import { Dispatcher } from './supervisor/dispatcher.ts';
import { Performer } from './supervisor/performer.ts';
import { Supervisor } from './supervisor/supervisor.ts';
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
  readonly #dispatcher: Dispatcher;
  readonly #runtimeId: string;
  /** A queue that runs jobs is a service: it keeps its process alive until it is shut down. */
  readonly #keepAlive: NodeJS.Timeout | undefined;

  /** Opens and migrates the database, takes up orphaned jobs and starts to run due ones. */
  constructor(settings: Settings) {
    const { clock, leaseMs, maxPayloadBytes } = settings;
    const pipelines = new Map(settings.pipelines.map((pipeline) => [pipeline.name, pipeline]));
    const runtime = thisRuntime();
    const wake = () => this.supervisor.wake();
    this.settings = settings;
    this.pipelines = pipelines;
    this.store = new SqliteStore({ ...settings, phaseLists: settings.pipelines.map(phaseListOf) });
    this.charts = new Charts(settings.pipelines, this.store.machineVersions);
    this.teller = new Teller(settings.retention ?? {});
    this.results = new Results(this.store, clock);
    this.streams = new EventStreams({ store: this.store, teller: this.teller, clock });
    const capacity = new Capacity({
      lanes: new Map([['inline', settings.concurrency]]),
      pipelines: limitsOf(settings.pipelines),
    });
    this.performer = new Performer({
      pipelines,
      capacity,
      clock,
      maxPayloadBytes,
      post: (message) => this.supervisor.post(message),
      onRoom: wake,
    });
    this.#dispatcher = new Dispatcher({ pipelines, capacity, clock, owner: runtime.id, leaseMs, wake });
    if (!settings.claim) this.#dispatcher.close();
    this.supervisor = new Supervisor({
      store: this.store,
      charts: this.charts,
      capacity,
      teller: this.teller,
      performer: this.performer,
      dispatcher: this.#dispatcher,
      onPoint: settings.onPoint,
    });
    this.teller.onTransition((job) => this.results.told(job));
    if (settings.inspect) {
      const feed = new InspectFeed(settings.inspect, runtime.id, (job) => this.charts.judge(job).chart.machine);
      this.teller.onTransition((job, transition) => feed.transition(job, transition));
    }
    this.#runtimeId = runtime.id;
    this.loops = startLoops({
      settings,
      store: this.store,
      supervisor: this.supervisor,
      runtime,
      teller: this.teller,
    });
    this.#keepAlive = settings.claim ? setInterval(() => {}, 2 ** 30) : undefined;
    warnOfIdleRetries(settings.pipelines);
  }

  /** Brings everything to rest and closes it. Always ends; rejects, after cleaning up, if jobs had to be stopped. */
  async stop(options: ShutdownOptions): Promise<void> {
    this.#dispatcher.close();
    await this.loops.stopAll();
    const parts = { supervisor: this.supervisor, performer: this.performer, ...this.settings };
    const late = await bringToRest(parts, options);
    await this.loops.stopHeartbeat();
    this.supervisor.close();
    this.results.close(new ShuttingDownError());
    await this.streams.end();
    this.teller.bus.clear();
    // A lock that outlasts our patience must not keep the file open; a forgotten registration does no harm.
    await this.store.unregister(this.#runtimeId).catch(() => {});
    await this.store.close();
    clearInterval(this.#keepAlive);
    if (late) throw late;
  }
}

function phaseListOf({ name, phases }: AnyPipeline) {
  return { pipeline: name, phases: phases.map((phase) => phase.name) };
}

function limitsOf(pipelines: readonly AnyPipeline[]): ReadonlyMap<string, number> {
  return new Map(
    pipelines.flatMap(({ name, settings }) => (settings.concurrency ? [[name, settings.concurrency]] : [])),
  );
}
