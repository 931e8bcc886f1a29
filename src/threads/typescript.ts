/** May a handler be a TypeScript file? Where Node strips types itself, or where tsx is installed beside the handler. */
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

/** Does the file need help that this Node does not give? */
export function needsTsx(file: string): boolean {
  return /\.[cm]?tsx?$/.test(file) && !(process.features as { typescript?: unknown }).typescript;
}

/** Why a TypeScript handler cannot run here, or `null` if it can. */
export function whyNotTypeScript(file: string): string | null {
  if (!needsTsx(file) || findTsx(file) !== null) return null;
  return 'is TypeScript, which this version of Node does not run; install tsx for development, or name the compiled .js file';
}

let registered = false;

/** Teaches the calling thread to import TypeScript. */
export async function registerTsx(file: string): Promise<void> {
  const path = findTsx(file);
  if (registered || path === null) return;
  registered = true;
  const { register } = (await import(path)) as { register(): unknown };
  register();
}

/** The handler's own project brings it. By its path: what `require` would resolve to is the CommonJS half, which cannot register. */
function findTsx(file: string): string | null {
  try {
    const root = pathToFileURL(createRequire(file).resolve('tsx/package.json'));
    return new URL('dist/esm/api/index.mjs', root).href;
  } catch {
    return null;
  }
}
