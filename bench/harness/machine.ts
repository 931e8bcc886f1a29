/** The header of every report: the machine, the versions, and where the files are. */
import { readFileSync, statfsSync } from 'node:fs';
import { cpus, loadavg, release, tmpdir, totalmem } from 'node:os';
import Database from 'better-sqlite3';

/** What a number must not be quoted without. */
export interface Machine {
  readonly date: string;
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  readonly files: string;
  readonly load: number;
  readonly node: string;
  readonly millrace: string;
  readonly sqlite: string;
}

const FILESYSTEMS: Readonly<Record<number, string>> = {
  61267: 'ext4',
  16914836: 'tmpfs, that is memory',
  2435016766: 'btrfs',
  1481003842: 'xfs',
  2035054128: 'overlayfs',
};

/** Where the trials' files go. */
export function filesFolder(): string {
  return process.env.BENCH_TMPDIR ?? tmpdir();
}

/** How much room there is for them, in bytes. */
export function freeDisk(): number {
  const { bavail, bsize } = statfsSync(filesFolder());
  return bavail * bsize;
}

export function machine(): Machine {
  const db = new Database(':memory:');
  const sqlite = String(db.prepare('SELECT sqlite_version()').pluck().get());
  db.close();
  const folder = filesFolder();
  const { type } = statfsSync(folder);
  const packageOf = (path: string) => JSON.parse(readFileSync(new URL(path, import.meta.url), 'utf8')).version;
  return {
    date: new Date().toISOString().slice(0, 16).replace('T', ' '),
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${process.platform} ${release()}`,
    files: `${folder} (${FILESYSTEMS[type] ?? `file system 0x${type.toString(16)}`})`,
    load: loadavg()[0] ?? 0,
    node: process.version,
    millrace: packageOf('../../package.json'),
    sqlite: `${sqlite} (better-sqlite3 ${packageOf('../../node_modules/better-sqlite3/package.json')})`,
  };
}

/** The header as lines of text. */
export function headerLines(m: Machine, others: readonly string[], endLoad?: number): readonly string[] {
  const load =
    endLoad === undefined ? m.load.toFixed(2) : `${m.load.toFixed(2)} at the start, ${endLoad.toFixed(2)} at the end`;
  return [
    `${m.date} UTC, ${m.cores} × ${m.cpu}, ${m.memoryGiB} GiB, ${m.system}, load average ${load}`,
    `Node ${m.node}, Millrace ${m.millrace}, SQLite ${m.sqlite}${others.map((each) => `, ${each}`).join('')}`,
    `files in ${m.files}`,
  ];
}
