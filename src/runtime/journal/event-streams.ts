/**
 * All open event streams of a queue, and what they share: the tail of the log, one watch over it, one ear for asides.
 * While no stream is open, there is nothing: no listener, no timer, no memory.
 */
import type { JobEventName, JobRecord, TransitionRecord } from '../../actors/vocabulary.ts';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/port.ts';
import { EventStream } from './event-stream.ts';
import { LogWatch } from './log-watch.ts';
import { Narrator } from './narrator.ts';
import type { StreamSettings } from './stream-options.ts';
import { Tail } from './tail.ts';
import type { Teller } from './teller.ts';

/** Events that are no log entries. */
const UNLOGGED = ['job:progress', 'job:webhook:delivered', 'job:webhook:failed'] as const;

export interface EventStreamsParts {
  readonly store: Store;
  readonly teller: Teller;
  readonly clock: Clock;
}

export class EventStreams {
  readonly #o: EventStreamsParts;
  readonly #open = new Set<EventStream>();
  readonly #tail = new Tail();
  readonly #watch: LogWatch;
  #deafen: (() => void)[] = [];

  constructor(parts: EventStreamsParts) {
    this.#o = parts;
    this.#watch = new LogWatch(parts.store, parts.clock, (position) => this.#reached(position));
  }

  /** Opens a stream over the log. */
  open(settings: StreamSettings): ReadableStream<Uint8Array> {
    const { store, clock } = this.#o;
    if (this.#open.size === 0) this.#listen();
    const narrator = new Narrator({ store, tail: this.#tail, clock, settings });
    const stream = new EventStream({ narrator, clock, settings, onEnd: () => this.#forget(stream) });
    this.#open.add(stream);
    stream.arm();
    return stream.readable;
  }

  /** Ends every stream in good order; resolves when none reads from the store any more. */
  async end(): Promise<void> {
    await Promise.all([...this.#open].map((stream) => stream.end()));
  }

  #listen(): void {
    const { teller } = this.#o;
    this.#deafen = [
      teller.onTransition((job, transition) => this.#told(job, transition)),
      ...UNLOGGED.map((name) => teller.bus.on(name, (event) => this.#aside(name, event))),
    ];
    this.#watch.start();
  }

  #forget(stream: EventStream): void {
    this.#open.delete(stream);
    if (this.#open.size > 0) return;
    for (const off of this.#deafen) off();
    this.#watch.stop();
    this.#tail.clear();
  }

  #told(job: JobRecord, transition: TransitionRecord): void {
    const wanted = [...this.#open].some(({ narrator }) => narrator.wants(transition));
    this.#tail.add(transition, wanted ? job : null);
    this.#ring();
  }

  #aside(name: JobEventName, event: { readonly job: JobRecord }): void {
    const readers = [...this.#open].filter(({ narrator }) => narrator.tells(name, event.job));
    if (readers.length === 0) return;
    const aside = { name, jobId: event.job.id, after: this.#tail.newest, data: JSON.stringify(event) };
    for (const stream of readers) stream.aside(aside);
  }

  /** Further than this process knew: somebody else has committed. */
  #reached(position: number): void {
    if (position <= this.#tail.newest) return;
    this.#tail.saw(position);
    this.#ring();
  }

  #ring(): void {
    for (const stream of this.#open) stream.ring();
  }
}
