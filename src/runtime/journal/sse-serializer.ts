/** The wire format of server-sent events. Knows nothing of jobs; refuses what would break the format. */
import { InvalidInputError } from '../errors.ts';
import { requireCount, show } from '../options.ts';

/** One server-sent event. */
export interface SseMessage {
  /** What `addEventListener` on the other side listens for; left out, it is `message`. */
  readonly event?: string;
  /** What a client sends back as `Last-Event-ID`; left out, the client keeps the one it has. */
  readonly id?: string;
  /** Any text; each of its lines becomes a `data:` line. Always sent, because parsers drop events without data, and their id with them. */
  readonly data: string;
}

const LINE_BREAK = /\r\n|\r|\n/;

/** Writes server-sent events as text. Usable alone. */
export class SseSerializer {
  /** One event, with the empty line that ends it. A line break in `event` or `id` is refused: it would begin another field. */
  message({ event, id, data }: SseMessage): string {
    if (typeof data !== 'string') throw new InvalidInputError('data', `is ${show(data)}, but must be a string.`);
    const lines = LINE_BREAK.test(data) ? data.split(LINE_BREAK).join('\ndata: ') : data;
    return `${field('event', event)}${field('id', id)}data: ${lines}\n\n`;
  }

  /** Tells the client how long to wait before it connects again. */
  retry(ms: number): string {
    requireCount(ms, 'retry', 0);
    return `retry: ${ms}\n\n`;
  }

  /** A line that every client ignores. */
  comment(text: string): string {
    return `: ${String(text).split(LINE_BREAK).join('\n: ')}\n\n`;
  }
}

function field(name: 'event' | 'id', value: string | undefined): string {
  if (value === undefined) return '';
  // A client ignores an id that has a NUL in it, and would go on with an older one.
  if (typeof value !== 'string' || /[\r\n\0]/.test(value)) {
    throw new InvalidInputError(name, `is ${show(value)}, but must be a string without line breaks or NUL.`);
  }
  return `${name}: ${value}\n`;
}
