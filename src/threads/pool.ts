/**
 * Main bank: a pool of worker threads, one phase per thread at a time. It never queues: whoever calls `run` holds a free slot,
 * and gives it back when the outcome has come. Knows no store.
 */
import { fileURLToPath } from 'node:url';
import { Piscina } from 'piscina';
import { isHello, ThreadPorts } from './thread-ports.ts';
import { ThreadRun, type ThreadTask } from './thread-run.ts';

/** How a pool's threads are made. */
export interface ThreadPoolOptions {
  /** How many threads. */
  readonly count: number;
  /** Heap limit of a thread, in MiB. Default: Node's own. */
  readonly memoryMb?: number | undefined;
  /** Node options for the threads. Default: those of the process. */
  readonly execArgv?: readonly string[] | undefined;
  /** Environment of the threads. Default: a copy of the process's. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** The heap limits phases will ask for; `undefined` is the pool's own. Default: that one alone. */
  readonly phaseLimits?: Iterable<number | undefined>;
  /** Told when a thread dies that no phase was running on. */
  onError(error: unknown): void;
}

const ENTRY = fileURLToPath(new URL('./entry.js', import.meta.url));
const SAMPLE_EVERY_MS = 250;

/** A pool of threads. Usable alone. */
export class ThreadPool {
  readonly #options: ThreadPoolOptions;
  /** One Piscina per heap limit, because it is the thread that has the limit. Threads are made when a limit is first used. */
  readonly #piscinas = new Map<number | undefined, Piscina>();
  readonly #ports = new ThreadPorts();
  readonly #runs = new Set<ThreadRun>();
  #sampler: NodeJS.Timeout | null = null;
  #closed = false;

  constructor(options: ThreadPoolOptions) {
    this.#options = options;
    // Threads take a while to start; those that will be used need not wait for the first job.
    for (const limit of options.phaseLimits ?? [undefined]) this.#piscina(limit);
  }

  /** Phases that are running, or whose thread is not gone yet. */
  get busy(): number {
    return this.#runs.size;
  }

  /** Runs a phase now. @param memoryMb heap limit of this phase, instead of the pool's */
  run(task: ThreadTask, memoryMb?: number): ThreadRun {
    if (this.#closed) throw new Error('The thread pool is closed.');
    const run = new ThreadRun(this.#piscina(memoryMb), this.#ports, task);
    this.#runs.add(run);
    this.#sampler ??= setInterval(() => this.#sample(), SAMPLE_EVERY_MS).unref();
    void run.outcome.finally(() => this.#runs.delete(run));
    return run;
  }

  /** Ends every thread, whatever it is doing. Resolves when they are gone, or after `patienceMs` if native code holds one up. */
  async close(patienceMs = 1_000): Promise<void> {
    this.#closed = true;
    if (this.#sampler) clearInterval(this.#sampler);
    for (const run of this.#runs) run.kill(false);
    const gone = Promise.all([
      ...[...this.#runs].map((run) => run.outcome),
      ...[...this.#piscinas.values()].map((piscina) => piscina.destroy()),
    ]);
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, patienceMs);
    });
    await Promise.race([gone, late]);
    clearTimeout(timer);
  }

  #piscina(memoryMb: number | undefined): Piscina {
    const limit = memoryMb ?? this.#options.memoryMb;
    let piscina = this.#piscinas.get(limit);
    if (!piscina) {
      piscina = this.#create(limit);
      this.#piscinas.set(limit, piscina);
    }
    return piscina;
  }

  #create(limit: number | undefined): Piscina {
    const { count, execArgv, env, onError } = this.#options;
    const piscina = new Piscina({
      filename: ENTRY,
      // As many as there are slots, always: with fewer at rest Piscina would queue, and its queue loses tasks.
      minThreads: count,
      maxThreads: count,
      idleTimeout: Number.POSITIVE_INFINITY,
      concurrentTasksPerWorker: 1,
      // Between phases a thread must not sleep in Atomics.wait: connections and timers of handlers would freeze.
      atomics: 'disabled',
      recordTiming: false,
      ...(limit === undefined ? {} : { resourceLimits: { maxOldGenerationSizeMb: limit } }),
      ...(execArgv === undefined ? {} : { execArgv: [...execArgv] }),
      ...(env === undefined ? {} : { env: { ...env } }),
    });
    piscina.on('error', onError);
    // Every phase that lost its thread waits for the successor: as many at once as there are threads, and none stays.
    piscina.setMaxListeners(0);
    piscina.on('message', (message) => {
      if (isHello(message)) this.#ports.greet(message);
    });
    return piscina;
  }

  #sample(): void {
    for (const run of this.#runs) run.sample();
    if (this.#runs.size > 0 || !this.#sampler) return;
    clearInterval(this.#sampler);
    this.#sampler = null;
  }
}
