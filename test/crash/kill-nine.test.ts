import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobQueue, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { expectLawful } from '../support/laws.ts';
import { tempFolder } from '../support/temp-database.ts';

const WORKER = new URL('./worker.js', import.meta.url).pathname;
const JOBS = 12;

/** Runs the worker to its end; answers with the signal that killed it, if one did. */
function run(database: string, diary: string, point: string, occurrence: number): Promise<string | null> {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [WORKER, database, diary, point, String(occurrence)], { stdio: 'inherit' });
    child.on('error', reject);
    child.on('exit', (_code, signal) => resolve(signal));
  });
}

async function seed(database: string): Promise<void> {
  const work = pipeline('work')
    .phase('first', () => 1)
    .phase('second', () => 2)
    .options({ retry: { maxAttempts: 20, disposition: 'fatal' } });
  const producer = new JobQueue({ database, pipelines: [work], claim: false });
  await producer.enqueueMany(
    Array.from({ length: JOBS }, (_, i) => ({ name: 'work', data: null, options: { id: `j${i}` } }) as const),
  );
  await producer.shutdown();
}

const points = [
  ['before-commit', 3],
  ['after-commit', 3],
  ['after-tell', 3],
  ['mid-phase', 5],
  ['mid-phase', 15],
] as const;

test.each(points)(
  'law 4: killed at %s (%i), finished phases stay finished and every job completes',
  async (point, occurrence) => {
    const folder = tempFolder();
    const database = join(folder, 'jobs.db');
    const diary = join(folder, 'diary');
    await seed(database);

    expect(await run(database, diary, point, occurrence)).toBe('SIGKILL');
    expectLawful(database);
    const before = existsSync(diary) ? readFileSync(diary, 'utf8').trim().split('\n') : [];

    expect(await run(database, diary, 'never', 0)).toBeNull();
    expectLawful(database);
    const after = readFileSync(diary, 'utf8').trim().split('\n').slice(before.length);

    // Law 1: whatever was told was committed, so nothing that was told runs again.
    const told = before.filter((line) => line.startsWith('told')).map((line) => line.slice(5));
    for (const line of told) expect(after).not.toContain(`run ${line}`);
    const reader = new JobQueue({ database, pipelines: [], claim: false });
    const { jobs } = await reader.listJobs();
    await reader.shutdown();
    expect(jobs.map(({ status }) => status)).toEqual(Array(JOBS).fill('completed'));
    const results = jobs.map(({ phaseResults }) => phaseResults);
    expect(results).toEqual(Array(JOBS).fill({ first: 1, second: 2 }));
  },
);

test('a job that keeps killing its process is stopped by the attempt limit, with the interrupted phase on record', async () => {
  const folder = tempFolder();
  const database = join(folder, 'jobs.db');
  const diary = join(folder, 'diary');
  const poison = pipeline('work')
    .phase('first', () => 1)
    .phase('second', () => 2);
  const producer = new JobQueue({ database, pipelines: [poison], claim: false });
  await producer.enqueue('work', null, { id: 'poison', maxAttempts: 3 });
  await producer.shutdown();

  for (let attempt = 1; attempt <= 3; attempt++) expect(await run(database, diary, 'mid-phase', 1)).toBe('SIGKILL');
  const last = new JobQueue({ database, pipelines: [poison] });
  await expect(last.result('poison')).rejects.toThrow('ended');
  const job = await last.getJob('poison');
  expect(job).toMatchObject({ status: 'failed', attempt: 3, error: { code: 'interrupted', phase: 'first' } });
  await last.shutdown();
  expect(readFileSync(diary, 'utf8').trim().split('\n')).toEqual(Array(3).fill('run poison first'));
});
