/** The inspector's server: opens the door, asks the doorman, and pipes the queue's event stream to pages that listen. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { guards, problem, send } from './answers.ts';
import { refusalOf } from './doorman.ts';
import { type InspectorOptions, requireInspectorOptions, requireQueue } from './inspector-options.ts';
import type { InspectedQueue } from './job-views.ts';
import { pageFiles } from './page-files.ts';
import { answer, type RouteOptions } from './routes.ts';

/** An inspector that is being served. */
export interface InspectorServer {
  /** Where to point the browser. */
  readonly url: string;
  readonly port: number;
  /** Ends the server and every stream it feeds; the queue is not touched. */
  close(): Promise<void>;
}

/** Pages that may listen at a time; each holds one connection. */
const MOST_STREAMS = 32;

/** Serves the inspector's page for a queue. Resolves when it can be opened. */
export async function serveInspector(queue: InspectedQueue, options: InspectorOptions = {}): Promise<InspectorServer> {
  requireQueue(queue);
  const { port, host, stately } = requireInspectorOptions(options);
  const routes: RouteOptions = { queue, files: pageFiles(), stately };
  const streams = new Set<AbortController>();
  const server = createServer({ maxHeaderSize: 16_384 }, (request, response) => {
    const head = request.method === 'HEAD';
    const refusal = refusalOf(request, host);
    if (refusal) return send(response, problem(refusal.status, refusal.problem), head);
    // Put together, not resolved: the doorman lets only paths in, and "//" alone would be taken for a host.
    const url = new URL(`http://inspector${request.url}`);
    if (url.pathname === '/events' && !head) return void tellEvents(queue, streams, request, response);
    answer(routes, url)
      .catch(() => problem(500, 'The inspector failed to answer.'))
      .then((found) => send(response, found, head));
  });
  server.maxConnections = 4 * MOST_STREAMS;
  server.requestTimeout = 10_000;
  await listening(server, port, host);
  // A connection that cannot be accepted (no file handles left, say) is one page less, and nothing the host should die of.
  server.on('error', () => {});
  const bound = server.address() as AddressInfo;
  const name = bound.family === 'IPv6' ? `[${bound.address}]` : bound.address;
  return {
    url: `http://${name === '0.0.0.0' || name === '[::]' ? 'localhost' : name}:${bound.port}/`,
    port: bound.port,
    close: () => closed(server, streams),
  };
}

/** Pipes the queue's events until the page leaves, the server closes or the queue ends. */
async function tellEvents(
  queue: InspectedQueue,
  streams: Set<AbortController>,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (streams.size >= MOST_STREAMS) return send(response, problem(503, 'Too many pages are open already.'), false);
  const given = request.headers['last-event-id'];
  const controller = new AbortController();
  try {
    const lastEventId = typeof given === 'string' ? given : null;
    const events = queue.createEventStream({ lastEventId, signal: controller.signal });
    streams.add(controller);
    response.writeHead(200, { ...guards(), 'content-type': 'text/event-stream; charset=utf-8' });
    response.flushHeaders();
    await pipeline(Readable.fromWeb(events as never), response);
  } catch {
    // The page has left, or the queue is shutting down: it will ask again.
    if (!response.headersSent) send(response, problem(503, 'The queue is shutting down.'), false);
  } finally {
    streams.delete(controller);
    controller.abort();
  }
}

function listening(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, () => {
      server.off('error', reject);
      resolve();
    });
  });
}

function closed(server: Server, streams: ReadonlySet<AbortController>): Promise<void> {
  for (const stream of streams) stream.abort();
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}
