/** The one place where transactions begin and end. Waits for locks without blocking the event loop, and says faults in Millrace's words. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import { isBusy, translateFault } from './faults.ts';

export class Patience {
  readonly #connection: Connection;
  readonly #busyTimeoutMs: number;
  readonly #onRollback: () => void;

  constructor(connection: Connection, busyTimeoutMs: number, onRollback: () => void) {
    this.#connection = connection;
    this.#busyTimeoutMs = busyTimeoutMs;
    this.#onRollback = onRollback;
  }

  async read<T>(work: () => T): Promise<T> {
    return this.#patiently(work, () => true);
  }

  /** IMMEDIATE: a transaction that reads first and writes later could otherwise fail without waiting. */
  async write<T>(work: () => T): Promise<T> {
    let begun = false;
    const transaction = this.#connection.db.transaction(() => {
      begun = true;
      return work();
    });
    return this.#patiently(
      () => {
        try {
          return transaction.immediate();
        } catch (error) {
          this.#onRollback();
          throw error;
        }
      },
      // Work may have been judged already; judging it twice is the caller's decision, not ours.
      () => !begun,
    );
  }

  async #patiently<T>(work: () => T, mayRepeat: () => boolean): Promise<T> {
    const { db, file } = this.#connection;
    const deadline = Date.now() + this.#busyTimeoutMs;
    for (let wait = 2; ; wait = Math.min(wait * 2, 100)) {
      try {
        // A transaction the application left open on a shared connection must not swallow our commit.
        if (db.inTransaction) throw Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' });
        return work();
      } catch (error) {
        if (!isBusy(error) || !mayRepeat() || Date.now() >= deadline) throw translateFault(error, file);
      }
      await sleep(wait * (0.5 + Math.random()));
    }
  }
}
