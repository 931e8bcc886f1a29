/**
 * Thread bank: the thread's own port, made once and handed to the main thread before any phase runs. A port per phase would cost
 * more than many a phase.
 */
import { MessageChannel, parentPort, threadId } from 'node:worker_threads';
import type { Hello, ToThread } from './messages.ts';

const { port1, port2 } = new MessageChannel();
parentPort?.postMessage({ millrace: 'hello', threadId, port: port2 } satisfies Hello, [port2]);

/** This thread's end of the channel. */
export const port = port1;

let hear: ((message: ToThread) => void) | null = null;

port.on('message', (message: ToThread) => hear?.(message));
// Piscina decides how long the thread lives.
port.unref();

/** What is said from now on is for `listener`; `null` between two phases. */
export function listenWith(listener: ((message: ToThread) => void) | null): void {
  hear = listener;
}
