/** Loads the contenders' packages, which live beside this file and nowhere else; installs them when first asked for. */
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const HERE = new URL('./', import.meta.url);

/**
 * Imports a peer's package.
 * @template T
 * @param {string} name
 * @returns {Promise<T>}
 */
export function importPeer(name) {
  return import(name);
}

/** Versions as installed, such as `plainjob 0.0.14`; `null` if the package is not there.
 * @param {string} name
 * @returns {string | null}
 */
export function peerVersion(name) {
  const file = new URL(`node_modules/${name}/package.json`, HERE);
  return existsSync(file) ? `${name} ${JSON.parse(readFileSync(file, 'utf8')).version}` : null;
}

/** Installs the pinned packages unless they are there. Answers with a line that says what went wrong, or null.
 * @returns {string | null}
 */
export function installPeers() {
  const { dependencies } = JSON.parse(readFileSync(new URL('package.json', HERE), 'utf8'));
  if (Object.keys(dependencies).every((name) => peerVersion(name))) return null;
  // Peer dependencies are left out: plainjob uses the better-sqlite3 of the main tree, so that both run the same build.
  const args = ['install', '--legacy-peer-deps', '--no-audit', '--no-fund', '--no-package-lock'];
  const { status, stderr } = spawnSync('npm', args, { cwd: fileURLToPath(HERE), encoding: 'utf8' });
  return status === 0 ? null : `npm install in bench/peers failed: ${stderr.trim().split('\n').at(-1)}`;
}
