/** Thread bank: what a handler writes to the console is kept as the job's log. One phase runs on a thread at a time, so there is one sink. */
import { format } from 'node:util';
import type { LogLine } from '../actors/vocabulary.ts';

export type LogSink = (level: LogLine['level'], text: string) => void;

const LEVELS = { debug: 'debug', log: 'info', info: 'info', warn: 'warn', error: 'error', trace: 'error' } as const;

let sink: LogSink | null = null;
let prints = true;

for (const [method, level] of Object.entries(LEVELS) as [keyof typeof LEVELS, LogLine['level']][]) {
  const original = console[method].bind(console);
  console[method] = (...args: unknown[]) => {
    sink?.(level, format(...args));
    // What comes after its phase has ended belongs to nobody, but shall not be lost.
    if (prints || !sink) original(...args);
  };
}

/** From now on lines go to `to`; `null` when the phase has ended. */
export function captureConsole(to: LogSink | null, alsoPrint: boolean): void {
  sink = to;
  prints = alsoPrint;
}
