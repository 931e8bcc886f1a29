/** Everything that crosses between the main thread and a worker thread, one union per direction. Types, and the layout of the shared memory. */
import type { MessagePort } from 'node:worker_threads';
import type { Blob } from '../actors/blobs.ts';
import type { BlobRules } from '../actors/json.ts';
import type { Failure, FailureOutcome, JobRecord, LogLine, PhaseUsage, StopReason } from '../actors/vocabulary.ts';

/** Where a handler is found. */
export interface HandlerRef {
  /** A `file:` URL. */
  readonly file: string;
  readonly export: string;
}

/** One phase to run. Crosses as Piscina's task. */
export interface Task {
  /** Every message says which task it is about: a thread has one port for all of them. */
  readonly id: number;
  readonly handler: HandlerRef;
  readonly job: JobRecord;
  readonly phase: string;
  /** Laid out as {@link Word} and {@link CPU_START}. */
  readonly memory: SharedArrayBuffer;
  /** The binary values of the phase before, moved here. */
  readonly carried: CarriedBlobs | null;
  readonly maxPayloadBytes: number;
  readonly blobRules: BlobRules;
  /** Limit of memory outside the heap; the heap's own is the thread's. */
  readonly maxExternalBytes: number | null;
  /** Also print what the handler writes to the console. */
  readonly printLogs: boolean;
}

/** Binary values of one phase's result. */
export interface CarriedBlobs {
  readonly phase: string;
  readonly blobs: readonly Blob[];
}

/** The first thing a thread says, by Piscina's own channel: here is the port to speak to me. */
export interface Hello {
  readonly millrace: 'hello';
  readonly threadId: number;
  readonly port: MessagePort;
}

/** To the thread, while the phase runs. */
export type ToThread = { readonly task: number } & (
  | { readonly type: 'stop'; readonly reason: StopReason; readonly detail: string | null }
  /** The answer to `need`; `error` if the bytes cannot be had. */
  | { readonly type: 'blobs'; readonly blobs: readonly Blob[]; readonly error: Failure | null }
);

/** From the thread, while the phase runs. */
export type FromThread = { readonly task: number } & (
  | { readonly type: 'progress'; readonly percent: number; readonly message: string | null }
  | { readonly type: 'log'; readonly at: number; readonly level: LogLine['level']; readonly text: string }
  /** The binary values of an earlier phase are wanted; the thread waits for the answer. */
  | { readonly type: 'need'; readonly phase: string }
);

/** What came of the phase. Errors cross as data: a structured clone would lose their class, name and code. */
export type Reply =
  | { readonly ok: true; readonly value: unknown; readonly blobs: readonly Blob[]; readonly usage: PhaseUsage }
  | { readonly ok: false; readonly failure: Failure; readonly outcome: FailureOutcome; readonly usage: PhaseUsage };

/** The 32-bit words of the shared memory. */
export const Word = {
  /** 0: go on; {@link STOP} or {@link SAMPLE}: look up from your work. Read by `ctx.checkpoint()`. */
  attention: 0,
  /** Rung when an answer to `need` has been posted. */
  answer: 1,
  threadId: 2,
  /** The operating system's number of the thread, 0 if it cannot be known. */
  osThreadId: 3,
  /** Why the phase must stop: one more than the place in {@link STOP_REASONS}. For a thread that had no port when it was asked. */
  reason: 4,
} as const;

export const WORDS = 6;

/** The phase must stop; the reason has been posted and written before this was set. */
export const STOP = 1;
/** Somebody would like to know how much memory is in use. */
export const SAMPLE = 2;

/** Where the thread notes its CPU time at the start of the phase: a 64-bit float at this byte. */
export const CPU_START = WORDS * 4;
export const MEMORY_BYTES = CPU_START + 8;
