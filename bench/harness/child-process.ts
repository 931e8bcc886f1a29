/** One trial in one process, from the parent's side; and the end of everything that is still running. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Numbers, Plan, Trial } from './scenario.ts';

const CHILD = new URL('../child.js', import.meta.url);
const patience = () => sleep(5_000, undefined, { ref: false });
const running = new Set<ChildProcess>();
let ending = false;

/** Runs the trial; rejects if it refuses to report, dies, or takes too long. */
export function runTrial(trial: Trial, plan: Plan, timeoutMs: number): Promise<Numbers> {
  // The run is being ended: nothing begins any more, and nobody waits for an answer.
  if (ending) return new Promise(() => {});
  // A group of its own: killing the group takes along whatever the trial has started.
  const child = fork(CHILD, {
    detached: true,
    execArgv: process.env.BENCH_NODE_OPTIONS?.split(' ').filter(Boolean) ?? [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  running.add(child);
  let complaints = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    complaints = (complaints + chunk).slice(-4_000);
  });
  const name = `${trial.scenario} ${trial.entry}`;
  return new Promise<Numbers>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${name}: no answer after ${timeoutMs / 1000} s.`)), timeoutMs);
    child.on('message', (message: { ready?: true; numbers?: Numbers; error?: string }) => {
      if (message.ready) child.send({ trial, plan });
      else if (message.numbers) resolve(message.numbers);
      else reject(new Error(`${name}: ${message.error}`));
    });
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      clearTimeout(timer);
      if (ending) return;
      reject(new Error(`${name}: ended without an answer (${signal ?? `code ${code}`}).\n${complaints}`));
    });
  }).finally(async () => {
    // It ends by itself after its answer; a contender that cannot close must not hold up the next trial.
    if (child.exitCode === null && child.signalCode === null) await Promise.race([once(child, 'exit'), patience()]);
    endGroup(child);
  });
}

/** Ends every trial that is still running, at once, and for good. */
export function endTrials(): void {
  ending = true;
  for (const child of running) endGroup(child);
}

function endGroup(child: ChildProcess): void {
  running.delete(child);
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // The group is gone already.
  }
}
