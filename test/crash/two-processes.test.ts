import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { JobQueue, pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { expectLawful } from '../support/laws.ts';
import { tempFolder } from '../support/temp-database.ts';

const WORKER = new URL('./worker.js', import.meta.url).pathname;

test('law 3: two processes on one file never run the same job twice', async () => {
  const folder = tempFolder();
  const database = join(folder, 'jobs.db');
  const work = pipeline('work')
    .phase('first', () => 1)
    .phase('second', () => 2);
  const producer = new JobQueue({ database, pipelines: [work], claim: false });
  await producer.enqueueMany(Array.from({ length: 1_000 }, () => ({ name: 'work', data: null }) as const));
  const diaries = ['a', 'b'].map((name) => join(folder, name));
  const children = diaries.map((diary) =>
    spawn(process.execPath, [WORKER, database, diary, 'never', '0'], { stdio: 'inherit' }),
  );
  await expect.poll(async () => (await producer.stats()).jobs, { timeout: 25_000 }).toEqual({ completed: 1_000 });
  await producer.shutdown();
  for (const child of children) child.kill('SIGKILL');
  expectLawful(database);
  const runs = diaries
    .flatMap((diary) => readFileSync(diary, 'utf8').split('\n'))
    .filter((line) => line.startsWith('run'));
  expect(new Set(runs).size).toBe(2_000);
  expect(runs).toHaveLength(2_000);
});
