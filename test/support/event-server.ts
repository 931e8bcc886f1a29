/** The smallest server of an event stream that gets the headers right. */
import { createServer, type Server } from 'node:http';
import { type AddressInfo, createServer as createSocket } from 'node:net';
import { Readable } from 'node:stream';
import type { ReadableStream as WebStream } from 'node:stream/web';
import type { EventStreamOptions, JobQueue } from 'millrace';

/** Serves `queue`'s events to everybody who asks. Resolves when it listens. */
export async function serveEvents(
  queue: Pick<JobQueue, 'createEventStream'>,
  { port = 0, ...options }: EventStreamOptions & { readonly port?: number } = {},
): Promise<{ readonly url: string; readonly server: Server }> {
  const server = createServer((request, response) => {
    const { searchParams } = new URL(request.url ?? '/', 'http://localhost');
    const header = request.headers['last-event-id'];
    const lastEventId = typeof header === 'string' ? header : searchParams.get('lastEventId');
    response.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    });
    response.flushHeaders();
    const body = Readable.fromWeb(queue.createEventStream({ ...options, lastEventId }) as WebStream);
    // A client that goes away takes its stream with it; one that is cut off comes back.
    body.on('error', () => response.destroy());
    response.on('close', () => body.destroy());
    body.pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`, server };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const socket = createSocket();
  await new Promise<void>((resolve) => socket.listen(0, '127.0.0.1', resolve));
  const { port } = socket.address() as AddressInfo;
  await new Promise((resolve) => socket.close(resolve));
  return port;
}
