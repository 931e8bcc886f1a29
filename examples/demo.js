/**
 * Eight jobs render a picture on worker threads, while two others make trouble: one is cancelled in the middle of a tight loop, one
 * runs away and loses its thread. Run it with `npm run demo`, or `npm run demo -- --help`. Ctrl-C ends it in good order.
 */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { fileURLToPath } from 'node:url';
import { JobQueue } from 'millrace';
import { readOptions } from './demo/options.js';
import { picture, poster, runaway } from './demo/pipelines.js';
import { pngOf } from './demo/png.js';
import { preview } from './demo/preview.js';
import { printCrash, printStory, printTable, readLog } from './demo/report.js';
import { openScreen, seconds, showCursor } from './demo/screen.js';

const { width, height, ...options } = readOptions();
const BANDS = ['band-1', 'band-2', 'band-3', 'band-4', 'band-5', 'band-6', 'band-7', 'band-8'];
const TROUBLE = ['poster', 'runaway'];
const FLAKY = 'band-5';
const POSTER_WIDTH = 1_600;
/** How often the main thread's event loop is looked at. */
const LOOP_MS = 5;

const threads = Math.min(Math.max(availableParallelism(), 2), 4);
const folder = options.database ? null : mkdtempSync(join(tmpdir(), 'millrace-demo-'));
const database = options.database ?? join(folder, 'jobs.db');

/** Ends what is under way; Ctrl-C waits for it. */
let stop = async () => {};
let interrupted = false;
process.on('SIGINT', async () => {
  if (interrupted) return;
  interrupted = true;
  await stop();
  process.exit(130);
});
process.on('exit', () => {
  if (folder) rmSync(folder, { recursive: true, force: true });
});

try {
  if (options.database) await render(BANDS, { onOpen: killHalfWay });
  else if (options.crash) await crash();
  else await demo();
} catch (error) {
  // After Ctrl-C, whoever still waits for a result is told that the queue is shutting down.
  if (!interrupted) throw error;
}

async function demo() {
  console.log(`${width} x ${height} pixels, ${BANDS.length} jobs on ${threads} threads.`);
  console.log('Two more make trouble, on a thread of their own.\n');
  await render([...BANDS, ...TROUBLE], {
    onOpen: cancelMidway,
    async onEnd(queue, ids) {
      await printTable(queue, ids);
      await printStory(queue, FLAKY);
    },
  });
}

/** The same picture in two processes: the first one is killed half way. */
async function crash() {
  console.log(`${width} x ${height} pixels, ${BANDS.length} jobs on ${threads} threads.`);
  console.log('Half way, the process will be killed.\n');
  const self = fileURLToPath(import.meta.url);
  const child = spawn(process.execPath, [self, '--database', database, '--width', `${width}`], { stdio: 'inherit' });
  const ended = new Promise((done) => child.on('exit', (code, signal) => done(signal ?? code)));
  stop = async () => {
    child.kill('SIGINT');
    await ended;
  };
  const how = await ended;
  showCursor();
  if (interrupted) return;
  if (how !== 'SIGKILL') throw new Error(`The first process ended with ${how}, before it was killed.`);

  const before = await readStored();
  console.log('\nKilled with SIGKILL. A new process opens the same file.\n');
  await render(BANDS, {
    async onEnd(queue, ids) {
      await printTable(queue, ids);
      printCrash(before, await readLog(queue, ids));
    },
  });
}

/** A queue that claims nothing can look at the file without taking anything up. */
async function readStored() {
  const reader = new JobQueue({ database, pipelines: [picture], claim: false });
  const log = await readLog(reader, BANDS);
  await reader.shutdown();
  return log;
}

/** Runs the jobs to their end and writes the picture. */
async function render(ids, { onOpen = () => {}, onEnd = async () => {} }) {
  const startedAt = performance.now();
  const queue = new JobQueue({
    database,
    pipelines: [picture, poster, runaway],
    // A pool of its own for what may misbehave: it cannot starve the others.
    threads: { count: threads, pools: { side: { count: 1 } } },
  });
  const screen = openScreen(queue, ids);
  stop = async () => {
    screen.close();
    console.log('\nCtrl-C: handlers are stopped, and their jobs given back.');
    // Rejects if jobs had to be stopped, once everything is cleaned up. Here they had to be.
    await queue.shutdown({ timeoutMs: 0, graceMs: 1_000 }).catch(() => {});
  };
  onOpen(queue, screen);
  const loop = monitorEventLoopDelay({ resolution: LOOP_MS });
  loop.enable();

  await enqueueOnce(queue, ids, screen);
  // `result` rejects for jobs that fail or are cancelled; here the end of every job is all we wait for.
  const results = await Promise.allSettled(ids.map((id) => queue.result(id)));
  if (interrupted) return;
  loop.disable();
  screen.now();
  screen.close();

  const parts = results.slice(0, BANDS.length).map(({ value }) => value);
  writeFileSync(options.out, pngOf(parts, width, height));
  await onEnd(queue, ids);
  await preview(queue, BANDS, width);
  const late = Math.max(loop.percentile(99) / 1e6 - LOOP_MS, 0).toFixed(0);
  console.log(`\nDone in ${seconds(performance.now() - startedAt)}. The main thread stayed free: in 99 of 100 looks,`);
  console.log(`its event loop was no more than ${late} ms late.`);
  console.log(`The picture: ${resolve(options.out)}`);
  await queue.shutdown();
}

/** One call, one commit: all of them are stored, or none. After the crash they are there already. */
async function enqueueOnce(queue, ids, screen) {
  const stored = await Promise.all(ids.map((id) => queue.getJob(id)));
  if (!stored[0]) await queue.enqueueMany(ids.map(newJob));
  for (const job of stored) {
    if (job?.status !== 'completed') continue;
    screen.change(job.id, { status: job.status, percent: 100, text: 'completed by the process that was killed' });
  }
}

function newJob(id, part) {
  if (id === 'runaway') return { name: 'runaway', data: null, options: { id, maxAttempts: 1 } };
  if (id === 'poster') {
    const data = { part: 0, parts: 1, width: POSTER_WIDTH, height: (POSTER_WIDTH * 5) / 8 };
    return { name: 'poster', data, options: { id } };
  }
  const failures = id === FLAKY && !options.crash && !options.database ? 2 : 0;
  return { name: 'picture', data: { part, parts: BANDS.length, width, height, failures }, options: { id } };
}

/** The loop that is cancelled never awaits anything; it hears of it at its next `ctx.checkpoint()`. */
function cancelMidway(queue) {
  const off = queue.on('job:progress', ({ job, phaseProgress }) => {
    if (job.id !== 'poster' || phaseProgress < 10) return;
    off();
    void queue.cancel('poster', `stopped in its loop, at ${Math.round(phaseProgress)}% of the phase`);
  });
}

/** No farewell: what is not committed is lost, and nothing else. */
function killHalfWay(queue, screen) {
  let finished = 0;
  queue.on('job:phase:completed', () => {
    if (++finished < (BANDS.length * picture.phases.length) / 2) return;
    screen.now();
    process.kill(process.pid, 'SIGKILL');
  });
}
