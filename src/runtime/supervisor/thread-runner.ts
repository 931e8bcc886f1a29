/** Runs one phase on a thread of a pool; the rest is the pool's business. */
import type { Blob } from '../../actors/blobs.ts';
import type { CarriedBlobs } from '../../threads/messages.ts';
import type { ThreadPool } from '../../threads/pool.ts';
import type { ThreadOutcome } from '../../threads/thread-run.ts';
import type { ThreadWork } from '../phase.ts';
import { type PhaseRun, unstorable } from './inline-runner.ts';
import type { Outcome, RunningPhase } from './outcome.ts';

const MIB = 1024 * 1024;

export function startOnThread(
  work: ThreadWork,
  run: PhaseRun,
  pool: ThreadPool,
  carried: CarriedBlobs | null,
  printLogs: boolean,
  blobsOf: (phase: string) => Promise<readonly Blob[]>,
): RunningPhase {
  const { phase, job, maxPayloadBytes, maxBlobBytes, onProgress, onLog } = run;
  const thread = pool.run(
    {
      handler: { file: work.file, export: work.export },
      job,
      phase,
      carried,
      maxPayloadBytes,
      blobRules: { maxBlobBytes, shared: work.shared },
      maxExternalBytes: work.memoryMb === null ? null : work.memoryMb * MIB,
      printLogs,
      graceMs: work.graceMs,
      cpuMs: work.cpuMs,
      onProgress,
      onLog,
      blobsOf,
    },
    work.memoryMb ?? undefined,
  );
  return {
    outcome: thread.outcome.then((outcome) => named(run, outcome)),
    stop: (reason, overrun) => thread.stop(reason, overrun),
    kill: () => thread.kill(),
  };
}

/** The thread does not know which pipeline it works for. */
function named({ job, phase }: PhaseRun, outcome: ThreadOutcome): Outcome {
  if (outcome.ok || outcome.outcome !== 'bad_result') return outcome;
  return { ...outcome, thrown: unstorable(job.pipeline, phase, outcome.thrown) };
}
