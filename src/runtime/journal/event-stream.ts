/**
 * One reader's stream: a cursor over the log that moves when the reader pulls. While nobody reads it holds what is queued
 * (some 64 KiB) and its place in the log, nothing else. What comes where in the text is told by `narrator.ts`.
 */
import type { CancelTimer, Clock } from '../clock.ts';
import type { Aside } from './asides.ts';
import type { Narrator } from './narrator.ts';
import type { StreamSettings } from './stream-options.ts';

/** A reader that is this many bytes behind is not served until it has read some. */
const MOST_QUEUED_BYTES = 64 * 1024;

/** A reader that keeps reading gets this many batches before others have their turn. */
const BATCHES_AT_ONCE = 8;

export interface EventStreamParts {
  readonly narrator: Narrator;
  readonly clock: Clock;
  readonly settings: StreamSettings;
  /** Told once, when the stream has ended in whatever way. */
  onEnd(): void;
}

export class EventStream {
  readonly readable: ReadableStream<Uint8Array>;
  readonly #o: EventStreamParts;
  readonly #encoder = new TextEncoder();
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  #cancelPing: CancelTimer | null = null;
  #pulling = false;
  #ending = false;
  #ended = false;
  /** The narrator has not come to the end of the log yet. */
  #more = true;
  /** Something may have happened since the last look. */
  #rung = false;
  #wake: (() => void) | null = null;
  #onEnded: (() => void)[] = [];

  constructor(parts: EventStreamParts) {
    this.#o = parts;
    this.readable = new ReadableStream<Uint8Array>(
      {
        // Asks the store at once: the stream begins with this call, not when somebody reads.
        start: (controller) => {
          this.#controller = controller;
          return parts.narrator.begin().catch(this.#fail);
        },
        pull: () => this.#pull(),
        cancel: () => this.#release(),
      },
      new ByteLengthQueuingStrategy({ highWaterMark: MOST_QUEUED_BYTES }),
    );
  }

  /** Begins to heed its signal and to give signs of life. */
  arm(): void {
    const { signal } = this.#o.settings;
    signal?.addEventListener('abort', this.#close);
    this.#pingLater();
    if (signal?.aborted) this.#close();
  }

  /** Who knows what the reader wants to hear. */
  get narrator(): Narrator {
    return this.#o.narrator;
  }

  /** Tells what is no log entry. */
  aside(aside: Aside): void {
    this.#o.narrator.asides.add(aside);
    this.ring();
  }

  /** There may be something new. */
  ring(): void {
    this.#rung = true;
    this.#wake?.();
  }

  /** Tells what there is room for, and closes; the reader comes back for the rest. */
  end(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#ended) return resolve();
      this.#onEnded.push(resolve);
      this.#ending = true;
      if (this.#pulling) this.ring();
      else this.#close();
    });
  }

  /** Stays pending until something was enqueued: the stream asks again only then. */
  async #pull(): Promise<void> {
    this.#pulling = true;
    try {
      for (let sent = false; !sent && !this.#ended; ) {
        // Each look has a turn of the event loop to itself: others get theirs, and it never falls between
        // a commit and its telling, when the tail does not have yet what the log has.
        await new Promise(setImmediate);
        this.#rung = false;
        sent = await this.#send();
        if (this.#ending) this.#close();
        else if (!sent && !this.#more && !this.#rung) await this.#bell();
      }
    } catch (error) {
      this.#fail(error);
    } finally {
      this.#pulling = false;
    }
  }

  /** Tells what there is, as long as there is room and it has not been at it for long; answers whether it told anything. */
  async #send(): Promise<boolean> {
    let sent = false;
    this.#more = true;
    for (let batch = 0; batch < BATCHES_AT_ONCE && this.#more; batch++) {
      if ((this.#controller.desiredSize ?? 0) <= 0) break;
      const text = await this.#o.narrator.next();
      if (this.#ended) break;
      this.#more = text !== null;
      if (!text) continue;
      this.#controller.enqueue(this.#encoder.encode(text));
      sent = true;
    }
    return sent;
  }

  #bell(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = () => {
        this.#wake = null;
        resolve();
      };
    });
  }

  #pingLater(): void {
    const { clock, settings, narrator } = this.#o;
    this.#cancelPing = clock.at(clock.now() + settings.pingMs, () => {
      narrator.pingDue = true;
      this.ring();
      this.#pingLater();
    });
  }

  /** What is queued can still be read. */
  readonly #close = (): void => {
    if (this.#ended) return;
    this.#controller.close();
    this.#release();
  };

  /** The reader learns of it; a client connects again and goes on where it was. */
  readonly #fail = (error: unknown): void => {
    if (this.#ended) return;
    this.#controller.error(error);
    this.#release();
  };

  #release(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#cancelPing?.();
    this.#o.settings.signal?.removeEventListener('abort', this.#close);
    this.#o.narrator.asides.clear();
    this.#wake?.();
    this.#o.onEnd();
    for (const resolve of this.#onEnded) resolve();
  }
}
