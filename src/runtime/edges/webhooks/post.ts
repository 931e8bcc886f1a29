/** One POST, and nothing it may do to us: no redirects, no private addresses, no endless waiting, no endless answer. */
import * as http from 'node:http';
import * as https from 'node:https';
import { hasPrivateHost, PrivateAddressError, publicLookup } from '../../private-addresses.ts';

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly retryAfter: string | undefined;
}

/** One request. */
export interface Post {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly timeoutMs: number;
  readonly maxResponseBytes: number;
  readonly signal?: AbortSignal | undefined;
}

/** Idle connections are kept this long for the next delivery. */
const IDLE_MS = 20_000;

/** Keeps connections alive between posts; each is made to an address that was allowed. */
export class Poster {
  readonly #allowPrivateNetwork: boolean;
  readonly #http: http.Agent;
  readonly #https: https.Agent;

  constructor(allowPrivateNetwork: boolean) {
    this.#allowPrivateNetwork = allowPrivateNetwork;
    const options = {
      keepAlive: true,
      maxFreeSockets: 4,
      timeout: IDLE_MS,
      ...(allowPrivateNetwork ? {} : { lookup: publicLookup }),
    };
    this.#http = new http.Agent(options);
    this.#https = new https.Agent(options);
  }

  /** Resolves with the answer, whatever its status; rejects if there was none. */
  async post(post: Post): Promise<Answer> {
    // A host written as an address is never looked up.
    if (!this.#allowPrivateNetwork && hasPrivateHost(post.url)) throw new PrivateAddressError(post.url.hostname);
    const deadline = performance.now() + post.timeoutMs;
    for (;;) {
      try {
        return await this.#once(post, deadline);
      } catch (error) {
        if (!(error instanceof StaleConnection)) throw error;
      }
    }
  }

  /** Ends all connections, also those in use. */
  close(): void {
    this.#http.destroy();
    this.#https.destroy();
  }

  /** @param deadline of the whole attempt, however many connections it takes */
  #once({ url, headers, body, timeoutMs, maxResponseBytes, signal }: Post, deadline: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const secure = url.protocol === 'https:';
      const request = (secure ? https : http).request(url, {
        method: 'POST',
        agent: secure ? this.#https : this.#http,
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        ...(signal ? { signal } : {}),
      });
      let answer: Answer | null = null;
      const timer = setTimeout(
        () => request.destroy(new Error(`There was no answer within ${timeoutMs} ms.`)),
        Math.max(0, deadline - performance.now()),
      );
      const end = (error?: Error) => {
        clearTimeout(timer);
        // Whatever happens after the status is known does not change it.
        if (answer) resolve(answer);
        else reject(isStale(request, error) ? new StaleConnection() : error);
      };
      request.on('error', end);
      // Node hangs up on an answer it has no use for, such as a change of protocols, without calling it an error.
      request.on('close', () => end(new Error('The connection ended without an answer.')));
      request.on('response', (response) => {
        answer = { status: response.statusCode ?? 0, retryAfter: response.headers['retry-after'] };
        let bytes = 0;
        response.on('data', (chunk: Buffer) => {
          bytes += chunk.length;
          if (bytes > maxResponseBytes) response.destroy();
        });
        response.on('error', () => {});
        response.on('close', () => end());
      });
      request.end(body);
    });
  }
}

/** The receiver closed an idle connection just as it was taken up again. That says nothing about the receiver: try a fresh one. */
class StaleConnection extends Error {}

function isStale(request: http.ClientRequest, error: NodeJS.ErrnoException | undefined): boolean {
  return request.reusedSocket && (error?.code === 'ECONNRESET' || error?.code === 'EPIPE');
}
