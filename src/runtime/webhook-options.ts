/** What can be said about webhooks, with defaults. Secrets become keys here and are kept in no other form. */
import { createSecretKey, type KeyObject } from 'node:crypto';
import type { Backoff } from '../actors/backoff.ts';
import type { JobEventName } from '../actors/vocabulary.ts';
import { InvalidInputError } from './errors.ts';
import {
  requireBackoff,
  requireBoolean,
  requireCount,
  requireOneOf,
  requireOptions,
  requireTimer,
  requireWait,
} from './options.ts';
import { requireWebhookUrl } from './webhook-url.ts';

/** The events a webhook can be sent for. */
export const WEBHOOK_EVENTS = [
  'job:completed',
  'job:failed',
  'job:retrying',
  'job:cancelled',
  'job:stale',
] as const satisfies readonly JobEventName[];

/** See {@link WEBHOOK_EVENTS}. */
export type WebhookEventName = (typeof WEBHOOK_EVENTS)[number];

/** How a webhook is posted, and tried again. */
export interface WebhookPostOptions {
  /** Signs what is sent. Any text, or `whsec_` and base64; several while one replaces another: all of them sign. Default: unsigned. */
  readonly secret?: string | readonly string[];
  /** Also send to loopback, link-local and other non-public addresses. Default `false`. */
  readonly allowPrivateNetwork?: boolean;
  /** Limit for one attempt, from connecting to the end of the answer. Default 15,000. */
  readonly timeoutMs?: number;
  /** Attempts in all, the first one included. Default 15: with the default backoff about a day. */
  readonly maxAttempts?: number;
  /** How long to wait between attempts. Default: exponential from 5 s to at most 12 h, with a fifth left to chance. */
  readonly backoff?: Backoff;
  /** The receiver's answer is not read beyond this; the connection is closed instead. Default 64 KiB. */
  readonly maxResponseBytes?: number;
}

/** Options `webhooks` of a queue. */
export interface WebhookOptions extends WebhookPostOptions {
  /** Where to send; a job's own `webhookUrl` comes first. Default: only jobs with a URL of their own have webhooks. */
  readonly url?: string;
  /** Which events are sent. Default: all of {@link WEBHOOK_EVENTS}. */
  readonly events?: readonly WebhookEventName[];
  /** How many deliveries to one endpoint (scheme, host and port) are under way at a time. Default 4. */
  readonly concurrencyPerEndpoint?: number;
  /** How long a delivery that was given up can be seen in `queue.deliveries(id)`. Default: 7 days. */
  readonly keepFailedMs?: number;
  /** `false`: this queue writes down what is owed, and others on the same database send it. Default: as `claim`. */
  readonly send?: boolean;
}

/** Posting options with every default filled in. */
export interface PostSettings extends Required<Omit<WebhookPostOptions, 'secret'>> {
  readonly keys: readonly KeyObject[];
}

/** Everything about webhooks with every default filled in. */
export interface WebhookSettings extends PostSettings {
  readonly url: string | null;
  readonly events: ReadonlySet<JobEventName>;
  readonly concurrencyPerEndpoint: number;
  readonly keepFailedMs: number;
  readonly send: boolean;
  /** Was `webhooks` given at all? If not, deliveries are only looked for when one is owed. */
  readonly configured: boolean;
}

const POST_OPTIONS = [
  'secret',
  'allowPrivateNetwork',
  'timeoutMs',
  'maxAttempts',
  'backoff',
  'maxResponseBytes',
] as const satisfies readonly (keyof WebhookPostOptions)[];

const KNOWN = [
  ...POST_OPTIONS,
  'url',
  'events',
  'concurrencyPerEndpoint',
  'keepFailedMs',
  'send',
] as const satisfies readonly (keyof WebhookOptions)[];

const DEFAULT_BACKOFF: Backoff = { type: 'exponential', baseMs: 5_000, maxMs: 12 * 3_600_000, jitter: 0.2 };
const WEEK_MS = 7 * 24 * 3_600_000;

/** Checks the options of posting alone. */
export function parsePostOptions(options: WebhookPostOptions, field: string): PostSettings {
  requireOptions(options, field, POST_OPTIONS);
  return postSettings(options, field);
}

/** Checks the options of a queue. */
export function parseWebhooks(options: WebhookOptions | undefined, claim: boolean): WebhookSettings {
  const field = 'config.webhooks';
  const given = options === undefined ? {} : options;
  requireOptions(given, field, KNOWN);
  const post = postSettings(given, field);
  requireCount(given.concurrencyPerEndpoint, `${field}.concurrencyPerEndpoint`, 1);
  requireWait(given.keepFailedMs, `${field}.keepFailedMs`, 0);
  requireBoolean(given.send, `${field}.send`);
  if (given.events !== undefined) requireEvents(given.events, `${field}.events`);
  return {
    ...post,
    url: given.url === undefined ? null : requireWebhookUrl(given.url, `${field}.url`, post.allowPrivateNetwork),
    events: new Set(given.events ?? WEBHOOK_EVENTS),
    concurrencyPerEndpoint: given.concurrencyPerEndpoint ?? 4,
    keepFailedMs: given.keepFailedMs ?? WEEK_MS,
    send: given.send ?? claim,
    configured: options !== undefined,
  };
}

/** The key of one secret. The message never repeats the secret. */
export function secretKey(secret: unknown, field: string): KeyObject {
  if (typeof secret !== 'string' || secret === '') {
    throw new InvalidInputError(field, 'must be a non-empty string.');
  }
  if (!secret.startsWith('whsec_')) return createSecretKey(secret, 'utf8');
  const encoded = secret.slice('whsec_'.length);
  // A single character is no byte yet, and with an empty key anybody could sign.
  if (!/^[A-Za-z0-9+/]{2,}={0,2}$/.test(encoded)) {
    throw new InvalidInputError(field, 'begins with "whsec_", so that base64 must follow.');
  }
  return createSecretKey(encoded, 'base64');
}

/** The keys of one secret or of several. */
export function secretKeys(secret: unknown, field: string): readonly KeyObject[] {
  if (!Array.isArray(secret)) return [secretKey(secret, field)];
  if (secret.length === 0) throw new InvalidInputError(field, 'must hold at least one secret.');
  return secret.map((each, index) => secretKey(each, `${field}[${index}]`));
}

function postSettings(options: WebhookPostOptions, field: string): PostSettings {
  requireBoolean(options.allowPrivateNetwork, `${field}.allowPrivateNetwork`);
  requireTimer(options.timeoutMs, `${field}.timeoutMs`, 1);
  requireCount(options.maxAttempts, `${field}.maxAttempts`, 1);
  requireCount(options.maxResponseBytes, `${field}.maxResponseBytes`, 0);
  requireBackoff(options.backoff, `${field}.backoff`);
  return {
    keys: options.secret === undefined ? [] : secretKeys(options.secret, `${field}.secret`),
    allowPrivateNetwork: options.allowPrivateNetwork ?? false,
    timeoutMs: options.timeoutMs ?? 15_000,
    maxAttempts: options.maxAttempts ?? 15,
    backoff: options.backoff ?? DEFAULT_BACKOFF,
    maxResponseBytes: options.maxResponseBytes ?? 64 * 1024,
  };
}

function requireEvents(events: unknown, field: string): void {
  if (!Array.isArray(events)) throw new InvalidInputError(field, 'must be a list of event names.');
  for (const [index, name] of events.entries()) {
    if (name === undefined) throw new InvalidInputError(`${field}[${index}]`, 'is undefined.');
    requireOneOf(name, `${field}[${index}]`, WEBHOOK_EVENTS);
  }
}
