/**
 * Who may come in. The inspector shows job data without asking for a password, so it answers only to pages it served itself: a
 * name that a stranger's DNS points at this machine (rebinding) is refused, and so is every foreign origin.
 */
import type { IncomingMessage } from 'node:http';
import { isIP, isIPv6 } from 'node:net';

/** Why a request is turned away. */
export interface Refusal {
  readonly status: number;
  readonly problem: string;
}

/** Longest address; ids are short, and nothing else is long. */
const LONGEST_URL = 2_000;

/** Answers with the reason to turn a request away, or `null`. `host` is a name the server was told to go by. */
export function refusalOf(request: IncomingMessage, host: string): Refusal | null {
  const { method, headers, url = '' } = request;
  if (method !== 'GET' && method !== 'HEAD') return { status: 405, problem: 'The inspector is for looking: GET only.' };
  if (url.length > LONGEST_URL) return { status: 414, problem: 'The address is too long.' };
  // Whole addresses are for proxies.
  if (!url.startsWith('/')) return { status: 400, problem: 'The address must be a path.' };
  if (Number(headers['content-length'] ?? 0) > 0 || headers['transfer-encoding'] !== undefined) {
    return { status: 413, problem: 'A request to the inspector has no body.' };
  }
  const name = nameOf(headers.host);
  if (name === null) return { status: 400, problem: 'The Host header is no host.' };
  if (!isOurName(name, host)) {
    return { status: 421, problem: 'Open the inspector by its IP address or as localhost; this name is not its own.' };
  }
  const foreign = { status: 403, problem: 'The inspector answers to its own page only.' };
  if (headers.origin !== undefined && headers.origin !== `http://${headers.host}`) return foreign;
  const site = headers['sec-fetch-site'];
  const visit = headers['sec-fetch-mode'] === 'navigate';
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !visit) return foreign;
  return null;
}

/** A host without its port and brackets; `null` if it is none. */
function nameOf(host = ''): string | null {
  const [, address, name] = /^(?:\[([\da-f:.]+)\]|([^\s:[\]@/?#\\]+))(?::\d{1,5})?$/i.exec(host) ?? [];
  if (address !== undefined) return isIPv6(address) ? address : null;
  return name?.toLowerCase() ?? null;
}

/** An address needs no DNS, so nobody can have pointed it here. */
function isOurName(name: string, host: string): boolean {
  return name === 'localhost' || isIP(name) !== 0 || name === host.toLowerCase();
}
