/** What handler files import. Nothing here reaches for the runtime: a thread cannot open the database. */
import type { PhaseContext } from '../actors/handler.ts';
import type { JobRecord } from '../actors/vocabulary.ts';

/** A handler of a phase that runs on a thread. */
export type ThreadHandler<Data = unknown, Result = unknown, Results = Readonly<Record<string, unknown>>> = (
  job: JobRecord<string, Data>,
  ctx: PhaseContext<Results>,
) => Result | Promise<Result>;

/**
 * Gives a handler its types; does nothing at run time. `Data` is the pipeline's input. TypeScript infers all type arguments or none, so
 * the first form leaves the result `unknown` unless its type is given, too; the second infers it.
 *
 * ```ts
 * export default defineHandler<{ url: string }, Image>(async (job, ctx) => …);
 * export default defineHandler<{ url: string }>()(async (job, ctx) => …);
 * ```
 */
export function defineHandler<Data = unknown>(): <Result, Results = Readonly<Record<string, unknown>>>(
  handler: ThreadHandler<Data, Result, Results>,
) => ThreadHandler<Data, Result, Results>;
export function defineHandler<Data = unknown, Result = unknown, Results = Readonly<Record<string, unknown>>>(
  handler: ThreadHandler<Data, Result, Results>,
): ThreadHandler<Data, Result, Results>;
export function defineHandler(handler?: ThreadHandler): unknown {
  return handler ?? ((given: ThreadHandler) => given);
}
