/** The system's Chromium, if there is one. Tests that need it are left out without it, but never in CI. */
import { accessSync, constants } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'];

/** Its path, or `undefined`. */
export function chromiumPath(): string | undefined {
  const given = process.env.CHROMIUM_PATH;
  return [...(given ? [given] : []), ...PLACES].find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Nothing may leave the machine, and nothing of the browser's own may get in the way. */
export const CHROMIUM_FLAGS = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

/** Vitest calls this once before all tests. */
export default function setup(): void {
  if (chromiumPath()) return;
  const remedy = 'install it (apt-get install chromium) or set CHROMIUM_PATH';
  if (process.env.CI === 'true') throw new Error(`CI runs the browser tests, but there is no Chromium: ${remedy}.`);
  process.stderr.write(`Browser tests are left out: there is no Chromium; ${remedy}.\n`);
}
