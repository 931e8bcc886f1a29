/** Signs and posts webhooks, and knows how often and when to try again. Keeps nothing: what must survive a crash is the store's business. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from '../../../actors/backoff.ts';
import type { Attempt, Courier, Parcel } from '../../background/sender.ts';
import { type Clock, LONGEST_TIMER_MS, systemClock } from '../../clock.ts';
import { InvalidInputError } from '../../errors.ts';
import { type PostSettings, parsePostOptions, type WebhookPostOptions } from '../../webhook-options.ts';
import { requireWebhookUrl } from '../../webhook-url.ts';
import { judgeAnswer, judgeFault } from './attempt.ts';
import { Poster } from './post.ts';
import { signedHeaders } from './signature.ts';

/** How a delivery ended. */
export type DeliveryReport = Attempt & {
  /** The `webhook-id` it was sent under. */
  readonly id: string;
  readonly attempts: number;
};

/** Options of one `deliver` call. */
export interface DeliverOptions {
  /** The `webhook-id`, the same for every repeat. Default: a new one. */
  readonly id?: string;
  /** Ends the delivery, also between attempts. */
  readonly signal?: AbortSignal;
}

/** Posts webhooks. A queue has one of its own; made alone, it retries in memory for as long as its process lives. */
export class WebhookDispatcher implements Courier {
  readonly #settings: PostSettings;
  readonly #clock: Clock;
  readonly #poster: Poster;

  /** @param options checked here, unless the queue has done so already */
  constructor(options: WebhookPostOptions | PostSettings = {}, clock: Clock = systemClock) {
    this.#settings = 'keys' in options ? options : parsePostOptions(options, 'options');
    this.#clock = clock;
    this.#poster = new Poster(this.#settings.allowPrivateNetwork);
  }

  /** One attempt. Never rejects: what goes wrong is an answer, too. */
  async attempt({ id, url, body }: Parcel, signal?: AbortSignal): Promise<Attempt> {
    const { keys, timeoutMs, maxResponseBytes } = this.#settings;
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'millrace',
      ...signedHeaders(keys, id, this.#clock.now(), body),
    };
    try {
      const answer = await this.#poster.post({ url: new URL(url), headers, body, timeoutMs, maxResponseBytes, signal });
      return judgeAnswer(answer, this.#clock.now());
    } catch (fault) {
      return judgeFault(fault);
    }
  }

  /** When to try again after `attempts` attempts, the last of which ended like this; `null`: give up. */
  retryAt(last: Attempt, attempts: number): number | null {
    const { maxAttempts, backoff } = this.#settings;
    if (last.delivered || last.final || attempts >= maxAttempts) return null;
    // The receiver may ask for more patience, not for less: "at once", said by whatever stands in front of a receiver that is
    // down, would use up all attempts within seconds.
    return this.#clock.now() + Math.max(last.retryAfterMs ?? 0, backoffMs(backoff, attempts, Math.random()));
  }

  /** Posts `payload` as JSON until it has arrived or is given up. Rejects only if it was given something wrong, or was aborted. */
  async deliver(url: string, payload: unknown, { id, signal }: DeliverOptions = {}): Promise<DeliveryReport> {
    const body = JSON.stringify(payload);
    if (body === undefined) throw new InvalidInputError('payload', 'must be something JSON can hold.');
    const parcel = {
      id: id === undefined ? `msg_${randomUUID()}` : requireId(id),
      url: requireWebhookUrl(url, 'url', this.#settings.allowPrivateNetwork),
      body,
    };
    for (let attempts = 1; ; attempts++) {
      signal?.throwIfAborted();
      const attempt = await this.attempt(parcel, signal);
      const retryAt = this.retryAt(attempt, attempts);
      if (retryAt === null) return { ...attempt, id: parcel.id, attempts };
      for (let left = retryAt - this.#clock.now(); left > 0; left = retryAt - this.#clock.now()) {
        await sleep(Math.min(left, LONGEST_TIMER_MS), undefined, signal ? { signal } : {});
      }
    }
  }

  /** Ends all connections. */
  close(): void {
    this.#poster.close();
  }
}

/** It becomes a header. */
function requireId(id: unknown): string {
  if (typeof id === 'string' && /^[\x21-\x7e]{1,200}$/.test(id)) return id;
  throw new InvalidInputError('id', 'must be 1 to 200 visible ASCII characters.');
}
