/** Thread bank: from a file and a name to a function, once per thread. */
import { MillraceError } from '../actors/errors.ts';
import type { PhaseHandler } from '../actors/handler.ts';
import type { HandlerRef } from './messages.ts';
import { needsTsx, registerTsx } from './typescript.ts';

const loaded = new Map<string, Promise<PhaseHandler>>();

/** Rejects with code `bad_handler` if there is no such function. */
export function loadHandler(ref: HandlerRef): Promise<PhaseHandler> {
  const key = `${ref.export}@${ref.file}`;
  let handler = loaded.get(key);
  if (!handler) {
    handler = load(ref);
    loaded.set(key, handler);
  }
  return handler;
}

async function load({ file, export: name }: HandlerRef): Promise<PhaseHandler> {
  let module: Record<string, unknown>;
  try {
    if (needsTsx(file)) await registerTsx(file);
    module = (await import(file)) as Record<string, unknown>;
  } catch (error) {
    const text = error instanceof Error ? error.message : String(error);
    throw new MillraceError('bad_handler', `Handler file ${file} cannot be loaded: ${text}`, { cause: error });
  }
  const found = pick(module, name);
  if (typeof found === 'function') return found as PhaseHandler;
  const names = Object.keys(module).join(', ') || 'nothing';
  throw new MillraceError(
    'bad_handler',
    `Handler file ${file} has no function as its export "${name}"; it exports ${names}. Write "export default defineHandler(…)", or name another export.`,
  );
}

/** A CommonJS file compiled from ESM hides its exports one level deeper. */
function pick(module: Record<string, unknown>, name: string): unknown {
  if (typeof module[name] === 'function') return module[name];
  const inner = module.default as Record<string, unknown> | null | undefined;
  return inner?.[name];
}
