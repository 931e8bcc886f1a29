/** What the inspector answers: a status, a type and a body, under headers that let a page load nothing from elsewhere. */
import type { ServerResponse } from 'node:http';

/** One answer. */
export interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string | Uint8Array;
  /** Where else this page may show frames from; nowhere by default. */
  readonly frames?: string;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** Data, as JSON. */
export function json(data: unknown, status = 200): Answer {
  return { status, type: JSON_TYPE, body: JSON.stringify(data) };
}

/** A problem, in words. */
export function problem(status: number, message: string): Answer {
  return json({ problem: message }, status);
}

/** Sends an answer. A `HEAD` request gets the headers alone. */
export function send(response: ServerResponse, { status, type, body, frames }: Answer, head: boolean): void {
  const bytes = typeof body === 'string' ? Buffer.from(body) : body;
  response.writeHead(status, { ...guards(frames), 'content-type': type, 'content-length': bytes.byteLength });
  response.end(head ? undefined : bytes);
}

/** Headers of every answer. Nothing is cached, so that an upgraded server never meets an old page. */
export function guards(frames = "'none'"): Readonly<Record<string, string>> {
  return {
    'content-security-policy':
      `default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src ${frames}; ` +
      "base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'referrer-policy': 'no-referrer',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  };
}
