/** Checks what `serveInspector` is given. */
import { InvalidInputError } from '../../errors.ts';
import { requireCount, requireOptions, show } from '../../options.ts';
import type { InspectedQueue } from './job-views.ts';

/** Options of `serveInspector`. */
export interface InspectorOptions {
  /** 0 takes any free port. Default 4600. */
  readonly port?: number;
  /** The address to listen on. Default `127.0.0.1`; anything else shows your jobs, unasked, to whoever can reach it. */
  readonly host?: string;
  /**
   * Offers, for a chosen job, a page that shows it in the hosted Stately inspector, which needs the internet and is sent the job's data.
   * `true`, or the address of another inspector that speaks its protocol. Default `false`: no request leaves the machine.
   */
  readonly stately?: boolean | string;
}

/** Options with every default filled in. */
export interface InspectorSettings {
  readonly port: number;
  readonly host: string;
  readonly stately: URL | null;
}

const VERBS = [
  'getJob',
  'listJobs',
  'transitions',
  'stats',
  'createEventStream',
] as const satisfies readonly (keyof InspectedQueue)[];

/** Something with the verbs the inspector needs. */
export function requireQueue(queue: unknown): void {
  const verbs = Object(queue) as Partial<InspectedQueue>;
  if (VERBS.every((verb) => typeof verbs[verb] === 'function')) return;
  throw new InvalidInputError('queue', `is ${show(queue)}, but must be a JobQueue.`);
}

/** Checks the options before a port is opened. */
export function requireInspectorOptions(options: InspectorOptions): InspectorSettings {
  requireOptions(options, 'options', ['port', 'host', 'stately']);
  const { port = 4600, host = '127.0.0.1', stately = false } = options;
  requireCount(port, 'options.port', 0, 65_535);
  // Node takes nothing, in whatever form, for every address there is: the door would stand open to the whole network.
  if (typeof host !== 'string' || host.trim() === '') {
    throw new InvalidInputError('options.host', `is ${show(host)}, but must be an address or a name to listen on.`);
  }
  return { port, host, stately: addressOf(stately) };
}

function addressOf(stately: boolean | string): URL | null {
  if (stately === false) return null;
  const address = stately === true ? 'https://stately.ai/inspect' : stately;
  if (typeof address !== 'string' || !URL.canParse(address) || !/^https?:/i.test(address)) {
    throw new InvalidInputError('options.stately', 'must be true, false or the http(s) address of an inspector.');
  }
  return new URL(address);
}
