/** Event streams as a test reads them: raw messages, and what the log says they should have been. */
import Database from 'better-sqlite3';
import { createParser } from 'eventsource-parser';
import type { JobQueue, StreamEvent } from 'millrace';
import { onTestFinished } from 'vitest';
import { announcementsOf } from '../../src/actors/announcements.ts';

/** A message as it was on the wire, with its data parsed. */
export interface Message {
  readonly event: string;
  readonly id: string | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: what it is, is what tests look at
  readonly data: any;
}

/** Turns text into messages as it arrives. */
export function messageParser(onMessage: (message: Message) => void): (text: string) => void {
  const parser = createParser({
    onEvent: ({ event = 'message', id, data }) => onMessage({ event, id, data: JSON.parse(data) }),
  });
  return (text) => parser.feed(text);
}

/** Reads a stream message by message. Cancelled when its test ends. */
export function readStream(stream: ReadableStream<Uint8Array>) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  const waiting: Message[] = [];
  const seen: Message[] = [];
  let text = '';
  const feed = messageParser((message) => waiting.push(message));
  onTestFinished(() => reader.cancel().catch(() => {}));

  /** The next message, or `undefined` at the end. */
  async function next(): Promise<Message | undefined> {
    while (waiting.length === 0) {
      const { done, value } = await reader.read();
      if (done) return undefined;
      const piece = decoder.decode(value, { stream: true });
      text += piece;
      feed(piece);
    }
    const message = waiting.shift();
    if (message) seen.push(message);
    return message;
  }

  /** Reads until a message satisfies the condition; answers with all messages read by this call. */
  async function until(condition: (message: Message) => boolean): Promise<Message[]> {
    const messages: Message[] = [];
    for (;;) {
      const message = await next();
      if (!message) throw new Error(`The stream ended after ${seen.map(({ event }) => event).join(', ')}.`);
      messages.push(message);
      if (condition(message)) return messages;
    }
  }

  async function rest(): Promise<Message[]> {
    const messages: Message[] = [];
    for (let message = await next(); message; message = await next()) messages.push(message);
    return messages;
  }

  return { reader, next, until, rest, text: () => text };
}

/** Reads up to the message whose entry has this position and that ends it. */
export function upTo(position: number): (message: Message) => boolean {
  return ({ id }) => id !== undefined && Number(id) >= position;
}

/** What was told of the log: position and name, in order. */
export function toldOf(messages: readonly Pick<Message, 'event' | 'data'>[]): string[] {
  return messages.flatMap(({ event, data }) => (data.transition ? [`${data.transition.position} ${event}`] : []));
}

/** What must be told of the log, read off the file. */
export function logOf(database: string, after = 0): string[] {
  const db = new Database(database, { readonly: true });
  try {
    return db
      .prepare<[number], { position: number; event: string; to: string }>(
        'SELECT position, event, to_state AS "to" FROM millrace_transitions WHERE position > ? ORDER BY position',
      )
      .all(after)
      .flatMap((entry) => announcementsOf(entry).map((name) => `${entry.position} ${name}`));
  } finally {
    db.close();
  }
}

/** The newest position in the file. */
export function newestOf(database: string): number {
  return Number(logOf(database).at(-1)?.split(' ')[0] ?? 0);
}

/** Jobs of a snapshot that may come in several parts. */
export function jobsOf(parts: readonly Message[]) {
  return parts.flatMap(({ event, data }) => (event === 'snapshot' ? (data as { jobs: { id: string }[] }).jobs : []));
}

/** Resolves when all of the jobs have ended. */
export async function finish(queue: Pick<JobQueue, 'result'>, ids: readonly string[]): Promise<void> {
  await Promise.all(ids.map((id) => queue.result(id)));
}

export type { StreamEvent };
