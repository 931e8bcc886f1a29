/**
 * What a stream says, in which order: where it stands, the snapshot if there is one, then the log onwards, with asides and pings
 * in between. Gives text a batch at a time, when asked, and moves on by exactly what it gave.
 */
import type { JobEventName, JobRecord, TransitionRecord } from '../../actors/vocabulary.ts';
import type { Clock } from '../clock.ts';
import type { Store } from '../store/port.ts';
import { Asides } from './asides.ts';
import { LogCursor } from './cursor.ts';
import { eventId, idOf, type Place, placeOf } from './event-id.ts';
import { SnapshotReader } from './snapshot-reader.ts';
import { SseSerializer } from './sse-serializer.ts';
import type { ResetEvent } from './stream-events.ts';
import type { StreamSettings } from './stream-options.ts';
import type { Tail, Told } from './tail.ts';

/** How long a client waits before it connects again. */
const RETRY_MS = 1_000;

/** A batch ends with the event that makes it this long: one write to a socket carries many events. */
const BATCH_CHARACTERS = 32 * 1024;

const sse = new SseSerializer();

export interface NarratorParts {
  readonly store: Store;
  readonly tail: Tail;
  readonly clock: Clock;
  readonly settings: StreamSettings;
}

export class Narrator {
  readonly asides = new Asides();
  /** A sign of life is wanted with the next text. */
  pingDue = false;
  readonly #o: NarratorParts;
  readonly #cursor: LogCursor;
  #place: Place = { position: 0, told: 0 };
  /** What the next text begins with. */
  #opening = sse.retry(RETRY_MS);
  #snapshot: SnapshotReader | null = null;

  constructor(parts: NarratorParts) {
    this.#o = parts;
    this.#cursor = new LogCursor(parts.store, parts.tail);
  }

  /** Finds the place to begin from. */
  async begin(): Promise<void> {
    const { store, settings } = this.#o;
    const newest = await this.#cursor.open();
    if (settings.lastEventId !== null) await this.#resume(settings.lastEventId);
    else if (settings.snapshot) this.#snapshot = new SnapshotReader(store, settings.filter);
    else this.#place = { position: newest, told: 0 };
    // A client that has an id from the start cannot lose what is committed between a drop and its first event.
    if (!this.#snapshot) this.#opening += this.#ping();
  }

  /** Would an entry with this transition be told? */
  wants(transition: TransitionRecord): boolean {
    return transition.position > this.#place.position && this.#o.settings.filter.namesOf(transition).length > 0;
  }

  /** Would an event that is no log entry be told? */
  tells(name: JobEventName, job: JobRecord): boolean {
    return this.#o.settings.filter.tells(name, job);
  }

  /** The next text; empty if it was all filtered out, `null` if there is nothing to say for now. */
  async next(): Promise<string | null> {
    const opening = this.#opening;
    this.#opening = '';
    const news = this.#snapshot ? await this.#nextPart(this.#snapshot) : await this.#nextEntries();
    const ping = this.pingDue ? this.#ping() : '';
    return opening || ping ? opening + (news ?? '') + ping : news;
  }

  async #resume(lastEventId: string): Promise<void> {
    const place = placeOf(lastEventId);
    // An entry of which some names were told must be there.
    const standing = place ? await this.#cursor.standing(place.position + Math.sign(place.told)) : 'unknown';
    if (place && standing === 'good') this.#place = place;
    else this.#reset(standing === 'pruned' ? standing : 'unknown');
  }

  async #nextEntries(): Promise<string | null> {
    let text = this.#asides();
    const entries = await this.#cursor.next(this.#place.position);
    if (entries === 'pruned') {
      this.#reset('pruned');
      return text;
    }
    let any = false;
    for (const told of entries) {
      any = true;
      text += await this.#entry(told);
      this.#place = { position: told.transition.position, told: 0 };
      text += this.#asides();
      if (text.length >= BATCH_CHARACTERS) break;
    }
    return any || text !== '' ? text : null;
  }

  /** One entry under all its names; only the last one's id says that the whole entry was told. */
  async #entry(told: Told): Promise<string> {
    const { transition } = told;
    const { position } = transition;
    const had = position === this.#place.position + 1 ? this.#place.told : 0;
    const names = this.#o.settings.filter.namesOf(transition).filter(({ index }) => index >= had);
    if (names.length === 0) return '';
    const facts = await this.#cursor.facts(told);
    let text = '';
    for (const { name, index } of names) {
      const whole = index === names.at(-1)?.index;
      const deleted = name === 'job:deleted' ? `"deletedJobId":${JSON.stringify(transition.jobId)},` : '';
      const data = `{"type":"${name}","at":${transition.at},${deleted}${facts}}`;
      text += sse.message({ event: name, id: eventId(position, index + 1, whole), data });
    }
    return text;
  }

  #asides(): string {
    let text = '';
    for (const { name, data } of this.asides.take(this.#place.position)) text += sse.message({ event: name, data });
    return text;
  }

  /** Carries the place: a client whose filter lets nothing through moves on with the log too. */
  #ping(): string {
    this.pingDue = false;
    const data = JSON.stringify({ timestamp: this.#o.clock.now() });
    return sse.message(this.#snapshot ? { event: 'ping', data } : { event: 'ping', id: idOf(this.#place), data });
  }

  #reset(reason: ResetEvent['reason']): void {
    const { store, settings } = this.#o;
    const event: ResetEvent = { type: 'reset', reason };
    this.#opening += sse.message({ event: 'reset', data: JSON.stringify(event) });
    this.#snapshot = new SnapshotReader(store, settings.filter);
  }

  /** Only the last part has an id: a client that drops before it begins anew. */
  async #nextPart(snapshot: SnapshotReader): Promise<string> {
    const { position, part, done, jobs } = await snapshot.next();
    const data = `{"type":"snapshot","position":${position},"part":${part},"done":${done},"jobs":[${jobs}]}`;
    if (!done) return sse.message({ event: 'snapshot', data });
    this.#snapshot = null;
    this.#place = { position, told: 0 };
    return sse.message({ event: 'snapshot', id: String(position), data });
  }
}
