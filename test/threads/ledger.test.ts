import { pipeline } from 'millrace';
import { expect, test } from 'vitest';
import { openQueue } from '../support/open-queue.ts';
import { at } from './at.ts';

test('what each phase used is stored with it: a busy phase uses CPU, a waiting one does not', async () => {
  const flow = pipeline('flow')
    .input<{ ms: number }>()
    .phase('busy', { worker: at('spin.js') })
    .phase('waiting', { worker: at('spin.js'), export: 'sleepy' })
    .phase('inline', () => null);
  const queue = openQueue({ pipelines: [flow], threads: { count: 1 } });
  const id = await queue.enqueue('flow', { ms: 100 });
  await queue.result(id);
  const [busy, waiting, inline] = (await queue.getJob(id))?.phases.map(({ usage }) => usage) ?? [];
  expect(inline).toBeNull();
  expect(busy).toMatchObject({ threadId: waiting?.threadId, bytesIn: 0, bytesOut: 0 });
  expect(busy?.wallMs).toBeGreaterThanOrEqual(99);
  expect(waiting?.wallMs).toBeGreaterThanOrEqual(99);
  // On this system the CPU time of a thread can be known; a shared machine gives the busy one only part of its time.
  expect(busy?.cpuMs).toBeGreaterThan((waiting?.cpuMs ?? 0) * 2);
  expect(busy?.utilization).toBeGreaterThan(waiting?.utilization ?? 1);
  expect(busy?.peakHeapBytes).toBeGreaterThan(1_000_000);
});

test('a failed attempt leaves what it used, and the next one replaces it', async () => {
  const faults = pipeline('faults')
    .phase('fault', { worker: at('faults.js'), export: 'recoverable' })
    .options({ retry: { maxAttempts: 3, disposition: 'fatal', backoff: { type: 'fixed', baseMs: 0 } } });
  const queue = openQueue({ pipelines: [faults], threads: { count: 1 } });
  const seen: unknown[] = [];
  queue.on('job:retrying', ({ job }) => seen.push(job.phases[0]?.usage?.wallMs));
  const id = await queue.enqueue('faults', null);
  await queue.result(id);
  expect(seen).toEqual([expect.any(Number), expect.any(Number)]);
  expect((await queue.getJob(id))?.phases[0]?.usage).toMatchObject({ wallMs: expect.any(Number) });
});
