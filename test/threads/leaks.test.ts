/**
 * What a phase needs is gone when it ends: channel, flag, listeners, timers, and the files of a thread that was ended. Seen in a process
 * that does nothing else, after the rubbish was collected.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { tempDatabase } from '../support/temp-database.ts';

interface Census {
  readonly resources: readonly string[];
  readonly listeners: unknown;
  readonly files: number | null;
  readonly heapUsed: number;
  readonly arrayBuffers: number;
  readonly rss: number;
  readonly threads: readonly {
    readonly threadId: number;
    readonly resources: readonly string[];
    readonly heapUsed: number;
    readonly external: number;
    readonly arrayBuffers: number;
  }[];
}

interface Report {
  readonly early: Census;
  readonly late: Census;
  readonly firstKills: Census;
  readonly lastKills: Census;
  readonly jobs: unknown;
  readonly beforehand: readonly string[];
  readonly afterwards: readonly string[];
}

const PHASES = 10_000;
const KILLS = 200;
const MIB = 1024 * 1024;

async function run(): Promise<Report> {
  const script = fileURLToPath(new URL('./leak-census.js', import.meta.url));
  const args = ['--expose-gc', script, tempDatabase(), String(PHASES), String(KILLS)];
  const { stdout, stderr } = await promisify(execFile)(process.execPath, args, { timeout: 110_000 });
  expect(stderr).toBe('');
  return JSON.parse(stdout) as Report;
}

/** Nothing more is held, but for the little that compiling and caching cost: far less than a kilobyte a phase. */
function expectNoMore(before: Census, after: Census): void {
  expect(after.resources).toEqual(before.resources);
  expect(after.listeners).toEqual(before.listeners);
  if (before.files !== null) expect(after.files).toBeLessThanOrEqual(before.files + 2);
  expect(after.heapUsed - before.heapUsed).toBeLessThan(3 * MIB);
  expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(MIB);
  for (const [index, thread] of after.threads.entries()) {
    const same = before.threads[index];
    expect(thread.resources).toEqual(same?.resources);
    expect(thread.heapUsed - (same?.heapUsed ?? 0)).toBeLessThan(MIB);
    expect(thread.external - (same?.external ?? 0)).toBeLessThan(MIB);
    expect(thread.arrayBuffers - (same?.arrayBuffers ?? 0)).toBeLessThan(MIB);
  }
}

describe(`${PHASES} phases and ${KILLS} kills`, { timeout: 120_000 }, () => {
  test('leave handles, listeners, files and memory where they were', async () => {
    const { early, late, firstKills, lastKills, jobs, beforehand, afterwards } = await run();
    // They did run, and every census asked each of the three threads.
    expect(jobs).toEqual({ completed: PHASES + 4 * 3, cancelled: KILLS * 2 });
    for (const { threads } of [early, late, firstKills, lastKills]) {
      expect(new Set(threads.map(({ threadId }) => threadId)).size).toBe(3);
    }
    expectNoMore(early, late);
    expectNoMore(firstKills, lastKills);
    // A thread's heap grows into the room it is allowed before it is collected, so this says less; and it is given back with the thread.
    expect(late.rss - early.rss).toBeLessThan(256 * MIB);
    expect(lastKills.rss - firstKills.rss).toBeLessThan(64 * MIB);
    expect(afterwards).toEqual(beforehand);
  });
});
