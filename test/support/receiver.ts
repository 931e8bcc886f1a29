/** A real receiver of webhooks on the loopback interface, which answers as it is told. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { WebhookEvent } from 'millrace/webhooks';
import { expect, onTestFinished } from 'vitest';

export interface Received {
  readonly id: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly event: WebhookEvent;
}

/** A status, or anything else done to the response. */
export type Answer = number | ((response: ServerResponse, request: IncomingMessage) => void);

export interface Receiver {
  readonly url: string;
  readonly received: Received[];
  /** Connections that were ever opened. */
  readonly connections: () => number;
  /** Waits until so many requests have come. */
  gets(count: number): Promise<readonly Received[]>;
}

/** Listens; `answer` is asked for every request, with its number from 1. */
export async function receiver(answer: (request: Received, n: number) => Answer = () => 204): Promise<Receiver> {
  const received: Received[] = [];
  let connections = 0;
  const server = createServer(async (request, response) => {
    let body = '';
    request.on('error', () => {});
    for await (const chunk of request) body += chunk;
    const { headers, url: path = '' } = request;
    const one = { id: String(headers['webhook-id']), path, headers, body, event: JSON.parse(body) };
    received.push(one);
    const how = answer(one, received.length);
    if (typeof how === 'number') response.writeHead(how).end();
    else how(response, request);
  });
  server.on('connection', () => {
    connections++;
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hook`,
    received,
    connections: () => connections,
    async gets(count) {
      await expect.poll(() => received.length, { timeout: 20_000, interval: 5 }).toBeGreaterThanOrEqual(count);
      return received;
    },
  };
}
