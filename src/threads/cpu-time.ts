/** CPU time of a single thread. Node 20 has no call for it; Linux tells it in /proc, later versions of Node themselves. */
import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

/** Milliseconds of CPU the calling thread has used; `null` where nobody can tell. */
export function createOwnCpuTime(): () => number | null {
  const own = (process as { threadCpuUsage?: () => { user: number; system: number } }).threadCpuUsage;
  if (own) {
    return () => {
      const { user, system } = own.call(process);
      return (user + system) / 1_000;
    };
  }
  const read = openSchedstat('/proc/thread-self/schedstat');
  return read ?? (() => null);
}

/** The same for another thread of this process, by the operating system's number. Close it after use. */
export function openCpuTime(osThreadId: number): { read(): number | null; close(): void } | null {
  const read = openSchedstat(`/proc/self/task/${osThreadId}/schedstat`);
  return read && { read, close: read.close };
}

/** The calling thread's number in the operating system, 0 if it cannot be known. */
export function osThreadId(): number {
  try {
    return Number(readlinkSync('/proc/thread-self').split('/').at(-1)) || 0;
  } catch {
    return 0;
  }
}

/** The first number of the file is the time on a processor, in nanoseconds. The file stays open: reading it again costs a few microseconds. */
function openSchedstat(path: string): ((() => number | null) & { close(): void }) | null {
  let fd: number;
  try {
    fd = openSync(path, 'r');
  } catch {
    return null;
  }
  const buffer = Buffer.alloc(64);
  const read = () => {
    try {
      const length = readSync(fd, buffer, 0, buffer.length, 0);
      return Number(buffer.toString('latin1', 0, length).split(' ', 1)[0]) / 1e6;
    } catch {
      return null;
    }
  };
  return Object.assign(read, { close: () => closeSync(fd) });
}
