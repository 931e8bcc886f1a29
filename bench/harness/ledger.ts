/** Keeps book of which jobs ran. A trial whose book does not balance reports no speed. */

/** Thrown when a contender lost, doubled or reordered work. */
export class VerifyError extends Error {
  override readonly name = 'VerifyError';
}

export class Ledger {
  readonly #jobs: number;
  readonly #starts: Uint8Array;
  readonly #dones: Uint8Array;
  #started = 0;
  #done = 0;
  #last = -1;
  #disorder: string | null = null;
  readonly #finished: Promise<number>;
  #finish: (at: number) => void = () => {};

  /** Jobs are numbered from 0. */
  constructor(jobs: number) {
    this.#jobs = jobs;
    this.#starts = new Uint8Array(jobs);
    this.#dones = new Uint8Array(jobs);
    this.#finished = new Promise((resolve) => {
      this.#finish = resolve;
    });
  }

  /** A handler was called. */
  start(job: number): void {
    this.#starts[job]!++;
    this.#started++;
    if (job < this.#last) this.#disorder ??= `job ${job} was started after job ${this.#last}`;
    else this.#last = job;
  }

  /** The contender says that it has stored the job's end. */
  done(job: number): void {
    this.#dones[job]!++;
    if (++this.#done === this.#jobs) this.#finish(performance.now());
  }

  /** Resolves, with the time, when as many jobs are done as there are. */
  finished(): Promise<number> {
    return this.#finished;
  }

  /** Throws unless every job was started and done exactly once, and, where order is promised, in order. */
  verify(order: 'in order' | 'any order' = 'in order'): void {
    for (const [what, counts] of [
      ['started', this.#starts],
      ['done', this.#dones],
    ] as const) {
      const wrong = counts.findIndex((count) => count !== 1);
      if (wrong >= 0) throw new VerifyError(`Job ${wrong} of ${this.#jobs} was ${what} ${counts[wrong]} times.`);
    }
    if (this.#started !== this.#jobs) throw new VerifyError(`${this.#started} starts for ${this.#jobs} jobs.`);
    if (order === 'in order' && this.#disorder) throw new VerifyError(`Out of order: ${this.#disorder}.`);
  }
}

/** Throws unless a count is what it must be. */
export function mustBe(what: string, found: number, wanted: number): void {
  if (found !== wanted) throw new VerifyError(`${what}: ${found}, but it must be ${wanted}.`);
}
