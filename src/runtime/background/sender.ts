/**
 * Sends the webhooks that are owed: decides when to look, takes what is due, has it carried out, and settles each.
 * How it is carried is the courier's business; what survives a crash is in the store, and this file can be killed anywhere.
 */
import { setMaxListeners } from 'node:events';
import type { JobRecord } from '../../actors/vocabulary.ts';
import { type Clock, LONGEST_TIMER_MS } from '../clock.ts';
import { ConflictError, NotFoundError } from '../errors.ts';
import type { JobWebhookEvent } from '../journal/events.ts';
import { Loop } from '../service.ts';
import type { ClaimedDelivery } from '../store/delivery.ts';
import type { Store } from '../store/port.ts';
import type { Message } from '../supervisor/turn.ts';
import type { WebhookSettings } from '../webhook-options.ts';

/** What is posted. */
export interface Parcel {
  /** The `webhook-id`. */
  readonly id: string;
  readonly url: string;
  readonly body: string;
}

/** How one attempt ended. */
export type Attempt =
  | { readonly delivered: true; readonly status: number }
  | {
      readonly delivered: false;
      /** The answer's status; `null` if there was none. */
      readonly status: number | null;
      readonly error: string;
      /** Another attempt would not help. */
      readonly final: boolean;
      /** The receiver's own wish. */
      readonly retryAfterMs: number | null;
    };

/** Whoever carries parcels out, and knows how often to try. */
export interface Courier {
  /** One attempt; never rejects. */
  attempt(parcel: Parcel, signal?: AbortSignal): Promise<Attempt>;
  /** When to try again after so many attempts; `null`: give up. */
  retryAt(last: Attempt, attempts: number): number | null;
  close(): void;
}

export interface SenderOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly settings: WebhookSettings;
  readonly courier: Courier;
  readonly owner: string;
  /** Hands a message to the supervisor. */
  post(message: Message): void;
  tell(event: JobWebhookEvent): void;
  report(error: unknown, during: string): void;
}

/** Other processes may owe something without our hearing of it, if nobody here watches for their commits. */
const LOOK_MS = 5_000;

/** All endpoints together: a limit of sockets and of bodies in memory. */
const MOST_IN_FLIGHT = 100;

/** What a claim lasts beyond the attempt's own limit, so that a slow commit does not cost it. */
const CLAIM_MARGIN_MS = 30_000;

interface Flight {
  delivery: ClaimedDelivery;
  readonly landed: Promise<void>;
}

export class Sender {
  readonly #o: SenderOptions;
  readonly #loop: Loop;
  readonly #flights = new Map<string, Flight>();
  readonly #abort = new AbortController();
  #lastOrigin = '';

  constructor(options: SenderOptions) {
    this.#o = options;
    // Every flight listens; Node would take more than ten listeners for a leak.
    setMaxListeners(MOST_IN_FLIGHT * 2, this.#abort.signal);
    this.#loop = new Loop(() => this.#round(), {
      clock: options.clock,
      everyMs: options.settings.configured ? LOOK_MS : Number.POSITIVE_INFINITY,
      onError: (error) => options.report(error, 'the webhook loop'),
    });
  }

  /** Looks for what an earlier run, or another process, has left. */
  start(): void {
    if (this.#o.settings.send) this.#loop.start();
  }

  /** Something is owed. */
  wake(): void {
    if (this.#o.settings.send) this.#loop.notLaterThan(this.#o.clock.now());
  }

  /** Another process has committed something, which may owe something. */
  wakeForOthers(): void {
    if (this.#o.settings.configured) this.wake();
  }

  /** Sends what is due, for at most `ms`; the rest is left for the next start. */
  async stop(ms: number): Promise<void> {
    await this.#loop.stop();
    const timer = setTimeout(() => this.#abort.abort(), Math.min(Math.max(0, ms), LONGEST_TIMER_MS));
    if (this.#o.settings.send && ms > 0) await this.#drain();
    await Promise.all(this.#landings());
    clearTimeout(timer);
    this.#o.courier.close();
  }

  /**
   * The last jobs may have owed something after the last look, more than an endpoint has room for, and one delivery that
   * arrives makes its job's next one due: whatever lands is followed by another look.
   */
  async #drain(): Promise<void> {
    while (!this.#abort.signal.aborted) {
      // A store that cannot be asked keeps what is owed.
      await this.#round().catch(() => {});
      if (this.#flights.size === 0) return;
      await Promise.race(this.#landings());
    }
  }

  #landings(): readonly Promise<void>[] {
    return [...this.#flights.values()].map(({ landed }) => landed);
  }

  /** Takes as much as there is room for; answers with when there will be more. */
  async #round(): Promise<number | null> {
    const { store, clock, owner, settings } = this.#o;
    const limit = MOST_IN_FLIGHT - this.#flights.size;
    // Whichever lands next looks again.
    if (limit <= 0) return null;
    const now = clock.now();
    const busy = new Map<string, number>();
    for (const { delivery } of this.#flights.values()) {
      busy.set(delivery.origin, (busy.get(delivery.origin) ?? 0) + 1);
    }
    const { deliveries, nextAt } = await store.claimDeliveries({
      now,
      owner,
      until: now + settings.timeoutMs + CLAIM_MARGIN_MS,
      limit,
      signed: settings.keys.length > 0,
      after: this.#lastOrigin,
      room: (origin) => settings.concurrencyPerEndpoint - (busy.get(origin) ?? 0),
      forgetFailedBefore: now - settings.keepFailedMs,
    });
    for (const delivery of deliveries) this.#launch(delivery);
    this.#lastOrigin = deliveries.at(-1)?.origin ?? this.#lastOrigin;
    return nextAt;
  }

  #launch(delivery: ClaimedDelivery): void {
    const flight = this.#flights.get(delivery.id);
    if (flight) {
      // Our own claim ran out while the event loop was held up. It is still under way, and now under this fence.
      flight.delivery = delivery;
      return;
    }
    const landed = this.#carry(delivery)
      .catch((error: unknown) => this.#o.report(error, 'the end of a webhook, which will be sent again,'))
      .finally(() => {
        this.#flights.delete(delivery.id);
        this.wake();
      });
    this.#flights.set(delivery.id, { delivery, landed });
  }

  async #carry({ id, url, body, attempts: before }: ClaimedDelivery): Promise<void> {
    const { courier, store, clock } = this.#o;
    const attempt = await courier.attempt({ id, url, body }, this.#abort.signal);
    const delivery = this.#flights.get(id)?.delivery;
    if (!delivery) return;
    if (attempt.delivered) return this.#arrived(delivery, before + 1);
    // Shutdown has cut it short, which says nothing about the receiver.
    if (this.#abort.signal.aborted) return;
    const { error } = attempt;
    const nextAt = courier.retryAt(attempt, before + 1);
    if (nextAt !== null) await store.settleDelivery(delivery, { type: 'postponed', nextAt, error });
    else if (await store.settleDelivery(delivery, { type: 'failed', at: clock.now(), error })) {
      const job = await store.getJob(delivery.jobId).catch(() => undefined);
      this.#tell('job:webhook:failed', delivery, before + 1, job, error);
    }
  }

  /** The job hears of it in the commit that ends the delivery; if it is gone, the delivery ends alone. */
  async #arrived(delivery: ClaimedDelivery, attempts: number): Promise<void> {
    const { post, store, clock } = this.#o;
    const { jobId } = delivery;
    try {
      const job = await new Promise<JobRecord>((resolve, reject) => {
        const event = { type: 'webhookDelivered', at: clock.now() } as const;
        post({ jobId, event, arrived: delivery, caller: { resolve, reject } });
      });
      this.#tell('job:webhook:delivered', delivery, attempts, job);
    } catch (error) {
      if (!(error instanceof NotFoundError || error instanceof ConflictError)) throw error;
      await store.settleDelivery(delivery, { type: 'arrived' });
      this.#tell('job:webhook:delivered', delivery, attempts);
    }
  }

  #tell(
    type: JobWebhookEvent['type'],
    { id, url, type: event, body }: ClaimedDelivery,
    attempts: number,
    job: JobRecord = JSON.parse(body).job,
    error: string | null = null,
  ): void {
    this.#o.tell({ type, at: this.#o.clock.now(), job, url, deliveryId: id, event, attempts, error });
  }
}
