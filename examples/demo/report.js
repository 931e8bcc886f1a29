/** What happened, read back from the queue when all is over. */
import { paint, seconds } from './screen.js';

/** One line per job, from the stored records. */
export async function printTable(queue, ids) {
  const rows = await Promise.all(ids.map(async (id) => rowOf(await queue.getJob(id), await queue.transitions(id))));
  const head = ['job', 'status', 'attempts', 'phases', 'CPU', 'thread', 'outcome'];
  const widths = head.map((title, i) => Math.max(title.length, ...rows.map((row) => row[i].length)));
  const line = (cells) => `  ${cells.map((cell, i) => cell.padEnd(widths[i])).join('  ')}`.trimEnd();
  console.log(`\n${paint(1, line(head))}`);
  for (const row of rows) console.log(line(row));
}

function rowOf(job, log) {
  const done = job.phases.filter(({ status }) => status === 'completed').length;
  // What a phase used was measured on its thread and stored with it.
  const used = job.phases.flatMap(({ usage }) => (usage ? [usage] : []));
  const cpuMs = used.reduce((sum, { cpuMs }) => sum + (cpuMs ?? 0), 0);
  const threads = [...new Set(used.map(({ threadId }) => threadId))];
  return [
    job.id,
    job.status,
    `${job.attempt} of ${job.maxAttempts}`,
    `${done} of ${job.phases.length}`,
    used.length > 0 ? seconds(cpuMs) : '-',
    threads.join(', ') || '-',
    outcomeOf(job, log),
  ];
}

function outcomeOf(job, log) {
  if (job.status === 'failed') return `${job.error.outcome}, code ${job.error.code}`;
  if (job.status === 'cancelled') return job.reason;
  const times = (name) => log.filter(({ event }) => event === name).length;
  const bytes = `${job.phaseResults.encode.deflated.bytes} bytes`;
  if (times('phaseFailed') > 0) return `${bytes}; failed attempts: ${times('phaseFailed')}`;
  return times('interrupted') > 0 ? `${bytes}; interruptions: ${times('interrupted')}` : bytes;
}

/** The life of one job: what the statechart made of it, and what its handlers said. */
export async function printStory(queue, id) {
  console.log(`\nThe log of ${id}, as stored:`);
  for (const { seq, event, from, to, attempt } of await queue.transitions(id)) {
    const path = `${from ?? '(nothing)'} -> ${to}`;
    console.log(`  ${String(seq).padStart(2)}  ${event.padEnd(14)}  ${path.padEnd(34)}  attempt ${attempt}`);
  }
  console.log('and what its handlers wrote to their console:');
  for (const { attempt, phase, level, text } of await queue.logs(id)) {
    console.log(`  attempt ${attempt}  ${phase}  ${level}: ${text}`);
  }
}

/** Every transition of these jobs so far. */
export async function readLog(queue, ids) {
  return (await Promise.all(ids.map((id) => queue.transitions(id)))).flat();
}

const finished = (log) => log.filter(({ event }) => event === 'phaseCompleted');
const begun = (log, jobId, phase) => log.filter((entry) => entry.jobId === jobId && entry.to === `active.${phase}`);

/** What the kill cost, in numbers counted from the log: `before` is what was there when the process died. */
export function printCrash(before, all) {
  const killedAt = Math.max(...before.map(({ position }) => position));
  const after = all.filter(({ position }) => position > killedAt);
  const kept = finished(before);
  const repeated = kept.filter(({ jobId, phase }) => begun(after, jobId, phase).length > 0);
  const interrupted = after.filter(({ event }) => event === 'interrupted');
  console.log('\nThe crash, from the stored log:');
  console.log(`  finished phases before the kill   ${kept.length}`);
  console.log(`  of these, begun again after it    ${repeated.length}`);
  console.log(`  phases it interrupted             ${interrupted.length}, taken up again by the new process`);
  console.log(`  finished phases after the kill    ${finished(after).length}`);
}
