// Runs thousands of phases and ends hundreds of threads; prints what the process holds after the first of them and after the last.
// Needs --expose-gc. argv: database, phases, kills
import { readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { JobQueue, pipeline } from 'millrace';
import { Piscina } from 'piscina';

const [database, phases, kills] = process.argv.slice(2);
const at = (name) => new URL(`./handlers/${name}`, import.meta.url);
const THREADS = 3;
const beforehand = heldResources();

/** The pool keeps its Piscinas to itself; whoever wants to count their listeners looks over its shoulder. */
const piscinas = new Set();
const { run } = Piscina.prototype;
Piscina.prototype.run = function (...args) {
  piscinas.add(this);
  return run.apply(this, args);
};

// With every limit there is: each sets a timer.
const work = pipeline('work').phase('run', { worker: at('census.js'), timeoutMs: 3_600_000, cpuMs: 3_600_000 });
const count = pipeline('count').phase('run', { worker: at('census.js'), export: 'count' });
const loop = pipeline('loop').phase('run', { worker: at('loops.js'), export: 'byForce', graceMs: 0 });
const asked = pipeline('asked').phase('run', { worker: at('loops.js'), export: 'byCheckpoint', graceMs: 3_600_000 });
const queue = new JobQueue({ database, pipelines: [work, count, loop, asked], threads: { count: THREADS } });
queue.on('error', ({ error }) => {
  throw error;
});
queue.on('job:progress', ({ job }) => {
  if (job.pipeline === 'loop' || job.pipeline === 'asked') queue.cancel(job.id).catch(() => {});
});

async function runPhases(amount) {
  const batch = 250;
  for (let done = 0; done < amount; done += batch) {
    const jobs = Array.from({ length: batch }, (_, i) => ({ name: 'work', data: { n: done + i } }));
    const ids = await queue.enqueueMany(jobs);
    await Promise.all(ids.map((id) => queue.result(id)));
  }
}

/** Half of them stop when asked, the others lose their thread. */
async function stopPhases(amount) {
  const names = ['loop', 'asked'];
  const jobs = Array.from({ length: amount * 2 }, (_, i) => ({ name: names[i % 2], data: null }));
  const ids = await queue.enqueueMany(jobs);
  await Promise.allSettled(ids.map((id) => queue.result(id)));
}

/** What is held once everything has come to rest. */
async function census() {
  while ((await queue.stats()).running > 0) await sleep(5);
  const ids = await queue.enqueueMany(Array.from({ length: THREADS }, () => ({ name: 'count', data: null })));
  const threads = await Promise.all(ids.map((id) => queue.result(id)));
  // Longer than the pool's sampler lives without a phase.
  await sleep(600);
  for (let i = 0; i < 3; i++) {
    globalThis.gc();
    await sleep(10);
  }
  const { heapUsed, rss, arrayBuffers } = process.memoryUsage();
  return {
    resources: heldResources(),
    listeners: [...piscinas].map(listenersOf),
    // Open files, where they can be counted.
    files: countFiles(),
    heapUsed,
    arrayBuffers,
    rss,
    threads,
  };
}

/** Handles, not requests, of which one may always be under way; nor the pipes of stdout and stderr, which open when first used. */
function heldResources() {
  return process
    .getActiveResourcesInfo()
    .filter((name) => !name.endsWith('Req') && name !== 'PipeWrap')
    .sort();
}

function listenersOf(piscina) {
  const all = (emitter) =>
    Object.fromEntries(emitter.eventNames().map((name) => [String(name), emitter.listenerCount(name)]));
  return { pool: all(piscina), threads: piscina.threads.map(all) };
}

function countFiles() {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return null;
  }
}

const report = {};
await runPhases(Number(phases) / 10);
report.early = await census();
await runPhases((Number(phases) * 9) / 10);
report.late = await census();
await stopPhases(Math.round(Number(kills) / 4));
report.firstKills = await census();
await stopPhases(Math.round((Number(kills) * 3) / 4));
report.lastKills = await census();
const { jobs } = await queue.stats();
await queue.shutdown();
await sleep(50);
console.log(JSON.stringify({ ...report, jobs, beforehand, afterwards: heldResources() }));
