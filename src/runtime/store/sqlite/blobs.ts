/** Binary values of results, apart from the JSON that refers to them. */
import type { Database, Statement } from 'better-sqlite3';
import type { Blob } from '../../../actors/blobs.ts';

interface BlobRow {
  readonly path: string;
  readonly kind: Blob['kind'];
  readonly body: Buffer;
}

export class BlobTable {
  readonly #put: Statement<[string, string, number, string, string, Uint8Array]>;
  readonly #get: Statement<[string, string], BlobRow>;
  readonly #delete: Statement<[string]>;
  readonly #deleteOne: Statement<[string, string]>;

  constructor(db: Database) {
    this.#put = db.prepare('INSERT INTO millrace_blobs (job_id, phase, n, path, kind, body) VALUES (?, ?, ?, ?, ?, ?)');
    this.#get = db.prepare('SELECT path, kind, body FROM millrace_blobs WHERE job_id = ? AND phase = ? ORDER BY n');
    this.#delete = db.prepare('DELETE FROM millrace_blobs WHERE job_id = ?');
    this.#deleteOne = db.prepare('DELETE FROM millrace_blobs WHERE job_id = ? AND phase = ?');
  }

  /** Shared memory is not stored: what is shared cannot be durable. */
  put(jobId: string, phase: string, blobs: readonly Blob[]): void {
    for (const [n, { path, kind, bytes }] of blobs.entries()) {
      if (kind !== 'SharedArrayBuffer') this.#put.run(jobId, phase, n, JSON.stringify(path), kind, bytes);
    }
  }

  /** Every value in a buffer of its own, so that it can be moved to a thread. */
  of(jobId: string, phase: string): readonly Blob[] {
    return this.#get.all(jobId, phase).map(({ path, kind, body }) => ({
      path: JSON.parse(path) as Blob['path'],
      kind,
      bytes: body.byteLength === body.buffer.byteLength ? new Uint8Array(body.buffer) : Uint8Array.from(body),
    }));
  }

  delete(jobId: string): void {
    this.#delete.run(jobId);
  }

  deleteOne(jobId: string, phase: string): void {
    this.#deleteOne.run(jobId, phase);
  }
}
