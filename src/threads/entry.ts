/** Thread bank: what Piscina runs. Loads the handler, gives it its context, and answers with data whatever happens. */
import { move } from 'piscina';
import { type Blob, withBlobs } from '../actors/blobs.ts';
import { toError, toFailure } from '../actors/failure.ts';
import { PhaseStoppedError } from '../actors/handler.ts';
import { NotJsonError, requireJsonWithBlobs } from '../actors/json.ts';
import { createPhaseContext } from '../actors/phase-context.ts';
import type { FailureOutcome } from '../actors/vocabulary.ts';
import { buffersOf, bytesIn, ownBytes } from './blob-transfer.ts';
import { Cancellation } from './cancellation.ts';
import { captureConsole } from './console-capture.ts';
import { loadHandler } from './handler-loader.ts';
import type { FromThread, Reply, Task } from './messages.ts';
import { Meter } from './meter.ts';
import { Reports } from './reports.ts';
import { port } from './thread-port.ts';

/** Never rejects: an error that crossed by itself would lose its class, name and code. */
export default async function run(task: Task): Promise<unknown> {
  const meter = new Meter(task.memory);
  const reports = new Reports(task.id);
  const cancellation = new Cancellation(task, () => watchMemory(task, meter, cancellation));
  let reply: Reply;
  try {
    const value = await handle(task, cancellation, reports);
    watchMemory(task, meter, cancellation);
    cancellation.checkpoint();
    reply = succeed(task, value, meter);
  } catch (thrown) {
    reply = fail(task, thrown, meter, cancellation);
  }
  captureConsole(null, true);
  reports.flush();
  cancellation.close();
  return reply.ok && reply.blobs.length > 0 ? moved(reply, reply.blobs) : reply;
}

async function handle(task: Task, cancellation: Cancellation, reports: Reports): Promise<unknown> {
  const { job, phase, maxPayloadBytes } = task;
  const handler = await loadHandler(task.handler);
  // It may have been stopped on its way here.
  cancellation.checkpoint();
  captureConsole((level, text) => reports.log(level, text), task.printLogs);
  const ctx = createPhaseContext({
    job,
    phase,
    signal: () => cancellation.signal,
    isStopped: () => cancellation.reason !== null,
    maxPayloadBytes,
    checkpoint: cancellation.checkpoint,
    onProgress: (percent, message) => reports.progress(percent, message),
    onLog: (level, text) => reports.log(level, text),
    resultOf: (name) => resultOf(task, name, cancellation),
  });
  return handler(job, ctx);
}

/** The JSON came with the task; binary values of any but the last phase are fetched when they are asked for. */
function resultOf({ id, job, carried }: Task, name: string, cancellation: Cancellation): unknown {
  const value = job.phaseResults[name];
  const expected = job.phases.find((phase) => phase.name === name)?.blobs ?? 0;
  if (expected === 0) return typeof value === 'object' ? structuredClone(value) : value;
  if (carried?.phase === name) return withBlobs(value, carried.blobs);
  port.postMessage({ task: id, type: 'need', phase: name } satisfies FromThread);
  const { blobs, error } = cancellation.awaitAnswer();
  if (error !== null) throw toError(error);
  return withBlobs(value, blobs);
}

/** Past its limit, the phase is stopped from inside, in words it can tell from a cancel. */
function watchMemory({ maxExternalBytes }: Task, meter: Meter, cancellation: Cancellation): void {
  const external = meter.sample();
  if (maxExternalBytes !== null && external > maxExternalBytes) {
    cancellation.stop(new PhaseStoppedError('memory_budget', `${external} bytes outside the heap`));
  }
}

function succeed(task: Task, result: unknown, meter: Meter): Reply {
  if (result === undefined) return { ok: true, value: undefined, blobs: [], usage: meter.read(bytesIn(task), 0) };
  const { value, blobs } = requireJsonWithBlobs(result, 'result', task.maxPayloadBytes, task.blobRules);
  const own = blobs.map(ownBytes);
  const usage = meter.read(
    bytesIn(task),
    own.reduce((sum, { bytes }) => sum + bytes.byteLength, 0),
  );
  return { ok: true, value, blobs: own, usage };
}

function fail(task: Task, thrown: unknown, meter: Meter, { reason }: Cancellation): Reply {
  meter.sample();
  const overMemory = reason?.code === 'memory_budget';
  const unstorable = thrown instanceof NotJsonError;
  const outcome: FailureOutcome = overMemory ? 'out_of_memory' : unstorable ? 'bad_result' : 'threw';
  const failure = toFailure(overMemory ? reason : thrown);
  return { ok: false, failure, outcome, usage: meter.read(bytesIn(task), 0) };
}

/** Piscina's way of saying: move these buffers instead of copying them. */
function moved(reply: Reply, blobs: readonly Blob[]): unknown {
  return move({
    get [Symbol.for('Piscina.transferable')]() {
      return buffersOf(blobs);
    },
    get [Symbol.for('Piscina.valueOf')]() {
      return reply;
    },
  } as unknown as ArrayBuffer);
}
