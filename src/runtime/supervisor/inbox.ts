/** What waits for the next turn: births, and messages to jobs. */
import type { BirthGroup, JobLogLine } from '../store/port.ts';
import type { Message } from './turn.ts';

/** Jobs to be born together, and who waits for them. */
export interface BirthRequest {
  readonly group: BirthGroup;
  resolve(): void;
  reject(error: unknown): void;
}

/** What one turn takes up. */
export interface Mail {
  readonly births: readonly BirthRequest[];
  readonly messages: readonly Message[];
  readonly logs: readonly JobLogLine[];
  /** One message alone, because it may be what broke a commit. */
  readonly isSuspect: boolean;
}

/** A store that is away for long must not fill the memory with lines. */
const MOST_KEPT_LINES = 10_000;

export class Inbox {
  #births: BirthRequest[] = [];
  #messages: Message[] = [];
  readonly #suspects: Message[] = [];
  #logs: JobLogLine[] = [];

  addBirth(birth: BirthRequest): void {
    this.#births.push(birth);
  }

  add(message: Message): void {
    this.#messages.push(message);
  }

  addLog(line: JobLogLine): void {
    this.#logs.push(line);
  }

  /** Messages under suspicion of breaking a commit go one by one, so that they break only their own. */
  take(): Mail {
    const suspect = this.#suspects.shift();
    if (suspect) return { births: [], messages: [suspect], logs: [], isSuspect: true };
    const births = this.#births;
    this.#births = [];
    const messages = this.#messages;
    this.#messages = [];
    for (const message of messages) message.onTaken?.();
    const logs = this.#logs;
    this.#logs = [];
    return { births, messages, logs, isSuspect: false };
  }

  /** The store could not take these: they go first when it can. */
  keep({ births, messages, logs }: Omit<Mail, 'isSuspect'>): void {
    this.#births = [...births, ...this.#births];
    this.#messages = [...messages, ...this.#messages];
    this.#logs = [...logs, ...this.#logs].slice(-MOST_KEPT_LINES);
  }

  /** One of these broke a commit. */
  suspect(messages: readonly Message[]): void {
    this.#suspects.push(...messages);
  }
}
