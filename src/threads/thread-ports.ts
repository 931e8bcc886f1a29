/** Main bank: the ports of all threads of a pool, and which run is meant by what comes in. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { FromThread, Hello, ToThread } from './messages.ts';

export class ThreadPorts {
  readonly #ports = new Map<number, MessagePort>();
  readonly #listeners = new Map<number, (message: FromThread) => void>();
  /** What is for threads whose greeting has not been heard yet. */
  readonly #early = new Map<number, [ToThread, readonly ArrayBuffer[]][]>();

  /** A thread says who it is. */
  greet({ threadId, port }: Hello): void {
    this.#ports.set(threadId, port);
    for (const [message, transferList] of this.#early.get(threadId) ?? []) port.postMessage(message, transferList);
    this.#early.delete(threadId);
    port.on('message', (message: FromThread) => this.#hear(message));
    port.on('close', () => this.#ports.delete(threadId));
    // The queue decides how long the process lives, not a channel.
    port.unref();
  }

  /** Says something to a thread that has begun its task; its greeting may still be on the way. */
  post(threadId: number, message: ToThread, transferList: readonly ArrayBuffer[]): void {
    const port = this.#ports.get(threadId);
    if (port) port.postMessage(message, transferList);
    else this.#early.set(threadId, [...(this.#early.get(threadId) ?? []), [message, transferList]]);
  }

  /** What threads say about this task goes to `listener`, until {@link forget}. */
  listen(task: number, listener: (message: FromThread) => void): void {
    this.#listeners.set(task, listener);
  }

  forget(task: number, threadId: number): void {
    this.#listeners.delete(task);
    this.#early.delete(threadId);
  }

  /** Hears now what a thread has said already: its reply came by another way, and may have overtaken it. */
  drain(threadId: number): void {
    const port = this.#ports.get(threadId);
    if (!port) return;
    for (let entry = receiveMessageOnPort(port); entry; entry = receiveMessageOnPort(port)) {
      this.#hear(entry.message as FromThread);
    }
  }

  #hear(message: FromThread): void {
    this.#listeners.get(message.task)?.(message);
  }
}

/** Is this a thread's first word? */
export function isHello(message: unknown): message is Hello {
  return (message as Partial<Hello> | null)?.millrace === 'hello';
}
