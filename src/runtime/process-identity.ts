/** Who this process is, and whether another one on the same host still lives. A process id alone is not enough: they are used again. */
import { randomUUID } from 'node:crypto';
import { readFileSync, readlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import type { RuntimeIdentity } from './store/port.ts';

/** The identity of a new runtime in this process. */
export function thisRuntime(): RuntimeIdentity {
  return { id: randomUUID(), host: hostIdentity(), pid: process.pid, processStart: processStart(process.pid) };
}

/**
 * Is the runtime's process certainly gone? `false` when it lives, and also when nobody can tell from here: then only
 * the lease decides.
 */
export function isGone(runtime: RuntimeIdentity): boolean {
  if (runtime.host !== hostIdentity()) return false;
  try {
    process.kill(runtime.pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
  // The number is in use; by the same process?
  return runtime.processStart !== null && processStart(runtime.pid) !== runtime.processStart;
}

let host: string | undefined;

/** Name, boot and process namespace: containers may share a name, and process ids mean nothing across any of these. */
function hostIdentity(): string {
  host ??= [hostname(), read('/proc/sys/kernel/random/boot_id'), link('/proc/self/ns/pid')].filter(Boolean).join('|');
  return host;
}

/** Linux keeps the start time, in clock ticks since boot, as field 22 of /proc/<pid>/stat; elsewhere it is not known. */
function processStart(pid: number): string | null {
  const stat = read(`/proc/${pid}/stat`);
  // The second field is the program's name in parentheses and may itself hold spaces and parentheses.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? null;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

function link(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}
