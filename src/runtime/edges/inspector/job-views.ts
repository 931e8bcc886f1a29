/** What the page is told of jobs: a light list of many, and one job with its whole story. */
import { replay } from '../../../actors/replay.ts';
import type { JobRecord, JobStatus, TransitionRecord } from '../../../actors/vocabulary.ts';
import type { JobQueue } from '../../job-queue.ts';
import type { JobPage } from '../../store/port.ts';
import type { DiagramSource } from './pipeline-diagram.ts';

/** The verbs of a queue that the inspector needs; any `JobQueue` has them. */
export type InspectedQueue = Pick<JobQueue, 'getJob' | 'listJobs' | 'transitions' | 'stats' | 'createEventStream'>;

/** How the page groups jobs. */
const GROUPS: readonly (readonly JobStatus[])[] = [
  ['active'],
  ['pending', 'retrying', 'paused', 'blocked'],
  ['completed', 'failed', 'cancelled', 'stale'],
];

/** At most so many jobs of a group, newest first. */
const PER_GROUP = 100;

/** Jobs come with their data, megabytes perhaps: so many are read at a time, and the host has its turn in between. */
const AT_A_TIME = 10;

/** At most so many entries of a job's log, the latest. */
const LOG_ENTRIES = 1_000;

/** Newest jobs of every group, without their data, and how many jobs there are. */
export async function overview(queue: InspectedQueue, filter: { pipeline?: string; status?: JobStatus }) {
  const { pipeline } = filter;
  const groups = filter.status ? [[filter.status]] : GROUPS;
  const jobs: ReturnType<typeof summary>[] = [];
  for (const status of groups) jobs.push(...(await newest(queue, { status, ...(pipeline ? { pipeline } : {}) })));
  return { stats: await queue.stats(), jobs };
}

async function newest(queue: InspectedQueue, filter: { status: readonly JobStatus[]; pipeline?: string }) {
  const jobs: ReturnType<typeof summary>[] = [];
  for (let cursor: string | null = null; ; ) {
    const page: JobPage = await queue.listJobs({ ...filter, limit: AT_A_TIME, ...(cursor ? { cursor } : {}) });
    jobs.push(...page.jobs.map(summary));
    cursor = page.cursor;
    if (cursor === null || jobs.length >= PER_GROUP) return jobs;
    await new Promise(setImmediate);
  }
}

function summary(job: JobRecord) {
  const { id, pipeline, status, currentPhase, progress, attempt, maxAttempts, createdAt, updatedAt, seq } = job;
  return { id, pipeline, status, currentPhase, progress, attempt, maxAttempts, createdAt, updatedAt, seq };
}

/** One job: its record (`null` if it is gone), and its log with what the job was after each entry. */
export async function story(queue: InspectedQueue, id: string) {
  const [job = null, log] = await Promise.all([queue.getJob(id), queue.transitions(id)]);
  const past = job ? replay(job, log) : log.map(() => null);
  const history = log.map((entry, index) => ({ ...entry, past: past[index] ?? null }));
  const omitted = Math.max(0, history.length - LOG_ENTRIES);
  return { job, history: history.slice(omitted), omitted, chart: chartKey(sourceOf(job, log)) };
}

/** What a job's picture is drawn from. Of a deleted job only the phases it went through are known. */
export function sourceOf(job: JobRecord | null, log: readonly TransitionRecord[]): DiagramSource {
  if (job) return { name: job.pipeline, phases: job.phases };
  const states = log.flatMap(({ to }) => (to.startsWith('active.') ? [to.slice('active.'.length)] : []));
  const names = states.length > 0 ? [...new Set(states)] : ['…'];
  return { name: log[0]?.pipeline ?? '', phases: names.map((name) => ({ name })) };
}

/** Jobs with the same key have the same picture. */
function chartKey({ name, phases }: DiagramSource): string {
  return [name, ...phases.map((phase) => phase.name)].join('/');
}
