/** Are the thread handlers of the pipelines good? One clear answer for the whole queue, before any of their jobs is claimed. */
import { type ProbeOptions, probeHandlers } from '../threads/probe.ts';
import { BadHandlerError } from './errors.ts';
import type { AnyPipeline } from './pipeline.ts';

/** Pipelines with at least one phase on a thread. */
export function threadPipelines(pipelines: readonly AnyPipeline[]): readonly AnyPipeline[] {
  return pipelines.filter(({ phases }) => phases.some(({ work }) => work.kind === 'thread'));
}

/** Loads every handler once, in a thread made for it; `null` if all is well. */
export async function checkHandlers(
  pipelines: readonly AnyPipeline[],
  options: ProbeOptions,
): Promise<BadHandlerError | null> {
  const uses = pipelines.flatMap(({ name: pipeline, phases }) =>
    phases.flatMap(({ name: phase, work }) => (work.kind === 'thread' ? [{ pipeline, phase, work }] : [])),
  );
  const problems = await probeHandlers(
    uses.map(({ work }) => ({ file: work.file, export: work.export })),
    options,
  );
  const bad = uses.flatMap(({ pipeline, phase, work: { file } }, index) => {
    const problem = problems.get(index);
    return problem === undefined ? [] : [{ pipeline, phase, file, problem }];
  });
  return bad.length === 0 ? null : new BadHandlerError(bad);
}
