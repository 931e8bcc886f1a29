/** How a webhook is signed, and how its receiver sees that it was. Standard Webhooks, and beside it a plain HMAC of the body. */
import { createHmac, type KeyObject, timingSafeEqual } from 'node:crypto';
import { InvalidInputError, MillraceError } from '../../errors.ts';
import type { JobTransitionEvent } from '../../journal/events.ts';
import { requireCount } from '../../options.ts';
import { secretKeys, type WebhookEventName } from '../../webhook-options.ts';

/** What a webhook's body says: the event as listeners in the process have it. */
export type WebhookEvent = JobTransitionEvent & { readonly type: WebhookEventName };

/** Headers as Node has them, as `fetch` has them, or as any object with names in any case. */
export type WebhookHeaders =
  | { get(name: string): string | null }
  | Readonly<Record<string, string | readonly string[] | undefined>>;

/** What {@link verifyWebhook} is given. */
export interface WebhookToVerify {
  /** The request's body exactly as it arrived: not parsed, not written anew. */
  readonly body: string | Uint8Array;
  readonly headers: WebhookHeaders;
  /** The sender's secret, or several while one replaces another. */
  readonly secret: string | readonly string[];
  /** How far the time of sending may be from now, in either direction. Default 5 minutes. */
  readonly toleranceMs?: number;
  /** The time now. Default `Date.now()`. */
  readonly now?: number;
}

/** The webhook is not to be trusted; the message says what is wrong with it. Answer with 400 or 401. */
export class WebhookVerificationError extends MillraceError {
  constructor(message: string) {
    super('webhook_not_verified', message);
  }
}

/** The headers of one attempt at a delivery; without keys they say only which delivery it is, and when it was sent. */
export function signedHeaders(
  keys: readonly KeyObject[],
  id: string,
  sentAt: number,
  body: string,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(sentAt / 1_000));
  const about = { 'webhook-id': id, 'webhook-timestamp': timestamp };
  const [first] = keys;
  if (!first) return about;
  return {
    ...about,
    'webhook-signature': keys.map((key) => `v1,${standard(key, id, timestamp, body).toString('base64')}`).join(' '),
    'X-JobQueue-Signature': `sha256=${createHmac('sha256', first).update(body).digest('hex')}`,
  };
}

/**
 * Answers with the event if the webhook was signed with (one of) the secret(s) and sent just now; throws
 * {@link WebhookVerificationError} otherwise. Repeats have the same `webhook-id`: keep the ones you have seen.
 */
export function verifyWebhook({ body, headers, secret, toleranceMs, now }: WebhookToVerify): WebhookEvent {
  const keys = secretKeys(secret, 'secret');
  requireCount(toleranceMs, 'toleranceMs', 0);
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) {
    throw new InvalidInputError('body', 'must be the raw body, a string or bytes: parsed JSON cannot be verified.');
  }
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signatures = header(headers, 'webhook-signature').split(' ');
  requireRecent(timestamp, now ?? Date.now(), toleranceMs ?? 300_000);
  const expected = keys.map((key) => standard(key, id, timestamp, body));
  // No early way out: how long this takes tells nothing about how close a guess was.
  let genuine = false;
  for (const signature of signatures) {
    for (const each of expected) genuine = matches(signature, each) || genuine;
  }
  if (!genuine) throw new WebhookVerificationError('No signature of this webhook was made with the secret.');
  return JSON.parse(typeof body === 'string' ? body : new TextDecoder().decode(body)) as WebhookEvent;
}

function standard(key: KeyObject, id: string, timestamp: string, body: string | Uint8Array): Buffer {
  return createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest();
}

function matches(signature: string, expected: Buffer): boolean {
  if (!signature.startsWith('v1,')) return false;
  const given = Buffer.from(signature.slice('v1,'.length), 'base64');
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function header(headers: WebhookHeaders, name: string): string {
  const value =
    typeof headers.get === 'function'
      ? headers.get(name)
      : Object.entries(headers).find(([key]) => key.toLowerCase() === name)?.[1];
  if (typeof value !== 'string' || value === '') throw new WebhookVerificationError(`The header ${name} is missing.`);
  return value;
}

function requireRecent(timestamp: string, now: number, toleranceMs: number): void {
  if (!/^\d{1,12}$/.test(timestamp)) throw new WebhookVerificationError('The header webhook-timestamp is no time.');
  const difference = Math.abs(now - Number(timestamp) * 1_000);
  if (difference > toleranceMs) {
    throw new WebhookVerificationError('The header webhook-timestamp is too far from the present time.');
  }
}
