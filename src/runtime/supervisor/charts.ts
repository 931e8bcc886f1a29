/** Which statechart judges a stored job: its pipeline's present one if the job fits, else the one it was born under. */
import { createJobChart, type JobChart } from '../../actors/job-actor.ts';
import { canGoOn, carryOver } from '../../actors/phase-change.ts';
import type { JobRecord } from '../../actors/vocabulary.ts';
import type { AnyPipeline } from '../pipeline.ts';

/** A job with its judge. */
export interface Judged {
  readonly chart: JobChart;
  readonly job: JobRecord;
  /** False when the job's phases are not the pipeline's (any more): it can be ended, but not run. */
  readonly runnable: boolean;
}

export class Charts {
  readonly #current = new Map<string, { chart: JobChart; names: readonly string[]; version: number }>();
  readonly #historical = new Map<number, JobChart>();

  constructor(pipelines: readonly AnyPipeline[], versions: ReadonlyMap<string, number>) {
    for (const { name, phases } of pipelines) {
      const specs = phases.map((phase) => ({ name: phase.name, timeoutMs: phase.timeoutMs }));
      this.#current.set(name, {
        chart: createJobChart({ pipeline: name, phases: specs }),
        names: specs.map((spec) => spec.name),
        version: versions.get(name) ?? 0,
      });
    }
  }

  /** The chart and version new jobs of a pipeline are born under. */
  current(pipeline: string): { chart: JobChart; version: number } | undefined {
    return this.#current.get(pipeline);
  }

  judge(job: JobRecord): Judged {
    const current = this.#current.get(job.pipeline);
    if (current?.version === job.machineVersion) return { chart: current.chart, job, runnable: true };
    const stored = job.phases.map((phase) => phase.name);
    if (current && canGoOn(stored, job.phaseIndex, current.names)) {
      return {
        chart: current.chart,
        job: carryOver(job, current.names, current.version, job.phaseIndex),
        runnable: true,
      };
    }
    return { chart: this.#asBorn(job, stored), job, runnable: false };
  }

  #asBorn(job: JobRecord, names: readonly string[]): JobChart {
    let chart = this.#historical.get(job.machineVersion);
    if (!chart) {
      const phases = names.map((name) => ({ name, timeoutMs: null }));
      chart = createJobChart({ pipeline: job.pipeline, phases });
      this.#historical.set(job.machineVersion, chart);
    }
    return chart;
  }
}
