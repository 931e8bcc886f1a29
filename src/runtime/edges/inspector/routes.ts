/** Which address gets which answer. Reads the queue through its public verbs, and never changes anything. */
import { definitionOf } from '../../../actors/inspection.ts';
import { createJobMachine } from '../../../actors/job-machine.ts';
import type { JobStatus } from '../../../actors/vocabulary.ts';
import { InvalidInputError, MillraceError, NotFoundError, ShuttingDownError } from '../../errors.ts';
import { type Answer, json, problem } from './answers.ts';
import { type InspectedQueue, overview, sourceOf, story } from './job-views.ts';
import { bareSvg } from './pipeline-diagram.ts';

/** What the routes need. */
export interface RouteOptions {
  readonly queue: InspectedQueue;
  readonly files: ReadonlyMap<string, Answer>;
  /** Where the hosted inspector is, if the user wants to be taken there. */
  readonly stately: URL | null;
}

/** Answers a request that the doorman let in. */
export async function answer({ queue, files, stately }: RouteOptions, url: URL): Promise<Answer> {
  const { pathname, searchParams } = url;
  const file = files.get(pathname === '/' ? '/index.html' : pathname);
  if (file && pathname !== '/stately.html') return file;
  try {
    if (pathname === '/api/jobs') {
      const pipeline = searchParams.get('pipeline');
      const status = searchParams.get('status') as JobStatus | null;
      const filter = { ...(pipeline ? { pipeline } : {}), ...(status ? { status } : {}) };
      return json({ ...(await overview(queue, filter)), stately: stately?.href ?? null });
    }
    const [, id, part] = /^\/api\/jobs\/([^/]+)(?:\/(chart|definition))?$/.exec(pathname) ?? [];
    if (id !== undefined) return await jobAnswer(queue, decodeURIComponent(id), part);
  } catch (error) {
    return failed(error);
  }
  const bridge = files.get('/stately.html');
  if (pathname === '/stately' && stately && bridge) return { ...bridge, frames: stately.origin };
  return problem(404, 'There is nothing here.');
}

async function jobAnswer(queue: InspectedQueue, id: string, part: string | undefined): Promise<Answer> {
  if (part === undefined) return json(await story(queue, id));
  const [job = null, log] = await Promise.all([queue.getJob(id), queue.transitions(id)]);
  const source = sourceOf(job, log);
  if (part === 'chart') return { status: 200, type: 'image/svg+xml; charset=utf-8', body: await bareSvg(source) };
  const phases = source.phases.map(({ name }) => ({ name, timeoutMs: null }));
  return json(definitionOf(createJobMachine({ pipeline: source.name, phases })));
}

/** What went wrong, without telling more than the page needs. */
function failed(error: unknown): Answer {
  if (error instanceof NotFoundError) return problem(404, error.message);
  if (error instanceof InvalidInputError || error instanceof URIError) return problem(400, error.message);
  if (error instanceof ShuttingDownError) return problem(503, error.message);
  if (error instanceof MillraceError) return problem(500, error.message);
  throw error;
}
