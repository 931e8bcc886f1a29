/** Main bank: the ports of all threads of a pool, and which run is meant by what comes in. */
import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { FromThread, Hello } from './messages.ts';

export class ThreadPorts {
  readonly #ports = new Map<number, MessagePort>();
  readonly #listeners = new Map<number, (message: FromThread) => void>();

  /** A thread says who it is. */
  greet({ threadId, port }: Hello): void {
    this.#ports.set(threadId, port);
    port.on('message', (message: FromThread) => this.#hear(message));
    port.on('close', () => this.#ports.delete(threadId));
    // The queue decides how long the process lives, not a channel.
    port.unref();
  }

  /** The port of a thread; `undefined` if it has not begun, or is gone. */
  of(threadId: number): MessagePort | undefined {
    return this.#ports.get(threadId);
  }

  /** What threads say about this task goes to `listener`, until {@link forget}. */
  listen(task: number, listener: (message: FromThread) => void): void {
    this.#listeners.set(task, listener);
  }

  forget(task: number): void {
    this.#listeners.delete(task);
  }

  /** Hears now what a thread has said already: its reply came by another way, and may have overtaken it. */
  drain(threadId: number): void {
    const port = this.of(threadId);
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
