/** The nouns of the outbox: what a delivery is on its way into the store, out of it, and to people. Types only. */
import type { JobEventName, JobRecord, TransitionRecord } from '../../actors/vocabulary.ts';

/** A webhook to be sent. */
export interface NewDelivery {
  /** The `webhook-id`: the same for every attempt, so that receivers can drop repeats. */
  readonly id: string;
  readonly url: string;
  /** Owed by a queue that signs: only one that has a secret may send it. */
  readonly signed: boolean;
  /** What is sent. Stored as it stands when the transition has its position, so that a late attempt says what was true then. */
  readonly event: {
    readonly type: JobEventName;
    readonly at: number;
    readonly job: JobRecord;
    readonly transition: TransitionRecord;
  };
}

/** The right to send a delivery; lost when another runtime takes it over, which raises the fence. */
export interface DeliveryClaim {
  readonly id: string;
  readonly fence: number;
}

/** A delivery on its way out. */
export interface ClaimedDelivery extends DeliveryClaim {
  readonly jobId: string;
  readonly type: JobEventName;
  readonly url: string;
  /** Scheme, host and port of the URL. */
  readonly origin: string;
  /** The JSON to be sent. */
  readonly body: string;
  /** Attempts that have failed so far. */
  readonly attempts: number;
}

/** What a request was given, and when to ask again: the next due time among origins that have room. */
export interface ClaimedDeliveries {
  readonly deliveries: readonly ClaimedDelivery[];
  readonly nextAt: number | null;
}

/** A request for deliveries that are due. */
export interface DeliveryRequest {
  readonly now: number;
  readonly owner: string;
  /** Whoever has not settled a claim by then is thought to be gone. */
  readonly until: number;
  /** At most this many. */
  readonly limit: number;
  /** Also those that must be signed. */
  readonly signed: boolean;
  /** Origins that sort after this one come first, so that all have their turn. */
  readonly after: string;
  /** How many more may go to this origin. */
  room(origin: string): number;
  /** Deliveries that were given up before this time are forgotten. */
  readonly forgetFailedBefore: number;
}

/** How an attempt at a delivery ended, other than by a change that tells the job of its arrival. */
export type DeliveryEnd =
  | { readonly type: 'arrived' }
  | { readonly type: 'postponed'; readonly nextAt: number; readonly error: string }
  | { readonly type: 'failed'; readonly at: number; readonly error: string };

/** A delivery as people see it. One that has arrived is not kept. */
export interface DeliveryRecord {
  /** The `webhook-id`. */
  readonly id: string;
  readonly jobId: string;
  /** The event it tells of. */
  readonly type: JobEventName;
  readonly url: string;
  /** `failed`: given up, and kept for a while to be seen. */
  readonly status: 'owed' | 'failed';
  /** Attempts that have failed so far. */
  readonly attempts: number;
  /** Not tried before this time; `null` if it was given up, or waits for an earlier delivery of the same job. */
  readonly nextAttemptAt: number | null;
  /** What was wrong with the last attempt. */
  readonly error: string | null;
  readonly createdAt: number;
}
