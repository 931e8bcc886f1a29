/** Which statechart judges a stored job: its pipeline's present one if the job is to run on and fits, else the one it was born under. */
import { createJobChart, type JobChart } from '../../actors/job-actor.ts';
import { canGoOn, carryOver, keptPhases } from '../../actors/phase-change.ts';
import type { JobRecord } from '../../actors/vocabulary.ts';
import type { AnyPipeline } from '../pipeline.ts';
import type { PhasesChangedPolicy } from '../store/port.ts';

/** A job with its judge. */
export interface Judged {
  readonly chart: JobChart;
  readonly job: JobRecord;
}

interface Current {
  readonly chart: JobChart;
  readonly names: readonly string[];
  readonly version: number;
}

export class Charts {
  readonly #current = new Map<string, Current>();
  readonly #historical = new Map<number, JobChart>();
  readonly #policy: PhasesChangedPolicy;

  constructor(
    pipelines: readonly AnyPipeline[],
    versions: ReadonlyMap<string, number>,
    policy: PhasesChangedPolicy = 'refuse',
  ) {
    this.#policy = policy;
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

  /** The judge of whatever ends a job or leaves it as it is: the phases it has are the ones it is judged by. */
  asBorn(job: JobRecord): Judged {
    const current = this.#current.get(job.pipeline);
    if (current?.version === job.machineVersion) return { chart: current.chart, job };
    return { chart: this.#bornUnder(job), job };
  }

  /** The judge of what sets a job going, which needs phases this program has; `null` if they are not the job's. */
  toRun(job: JobRecord): Judged | null {
    const current = this.#current.get(job.pipeline);
    if (!current) return null;
    if (current.version === job.machineVersion) return { chart: current.chart, job };
    const kept = this.#keeps(job, current);
    return kept === null ? null : { chart: current.chart, job: carryOver(job, current.names, current.version, kept) };
  }

  /** How many of its finished phases the job keeps under the present list. A job that has finished all of its own needs no others. */
  #keeps(job: JobRecord, { names }: Current): number | null {
    const stored = job.phases.map((phase) => phase.name);
    if (job.phaseIndex >= stored.length) return null;
    if (canGoOn(stored, job.phaseIndex, names)) return job.phaseIndex;
    return this.#policy === 'migrate' ? keptPhases(stored, job.phaseIndex, names) : null;
  }

  #bornUnder(job: JobRecord): JobChart {
    let chart = this.#historical.get(job.machineVersion);
    if (!chart) {
      const phases = job.phases.map(({ name }) => ({ name, timeoutMs: null }));
      chart = createJobChart({ pipeline: job.pipeline, phases });
      this.#historical.set(job.machineVersion, chart);
    }
    return chart;
  }
}
