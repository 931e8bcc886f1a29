/** What a scenario is, and what one trial of it is given. Everything else in bench/ is written against these types. */
import type { Results } from './results.ts';

/** Measured numbers by name. Speeds end in `PerSecond`, times in `Ms` or `Us`, memory in `MiB`. */
export type Numbers = Readonly<Record<string, number>>;

/** A server that some contenders need; started once per run, by the parent. */
export type ServiceName = 'redis' | 'postgres';

/** Where the running services listen. */
export type Services = Readonly<Partial<Record<ServiceName, string>>>;

/** What one trial is told. It crosses to a process of its own as JSON. */
export interface Trial {
  readonly scenario: string;
  readonly entry: string;
  /** How many jobs to measure with. */
  readonly jobs: number;
  /** A smoke run: every path is taken, no number means anything. */
  readonly quick: boolean;
  readonly round: number;
  /** A folder of the trial's own; taken away afterwards. */
  readonly folder: string;
  /** A folder shared by all trials of the scenario, for costly preparations. */
  readonly shared: string;
  readonly services: Services;
}

/** One contender doing one kind of work. */
export interface Entry {
  /** `millrace`, `limit`, or a peer's name: under it the numbers are reported. */
  readonly contender: string;
  /** Tells entries of one contender apart; they must not report the same names. */
  readonly variant?: string;
  /** Runs only with `--peers`. */
  readonly peer?: boolean;
  readonly service?: ServiceName;
  /** Called in the parent before anything is started: a line that says why the entry cannot run, or `null`. */
  readonly unavailable?: (plan: Plan) => string | null | Promise<string | null>;
  /** Does the work in a process of its own, checks it, and only then answers. Throwing refuses to report. */
  readonly run: (trial: Trial) => Promise<Numbers>;
}

/** How a scenario is going to be run. */
export interface Plan {
  readonly jobs: number;
  readonly rounds: number;
  readonly quick: boolean;
  readonly peers: boolean;
}

/** What the numbers say about each other. */
export interface Conclusion {
  /** Above 1: Millrace is ahead of that contender. */
  readonly ratio?: Readonly<Record<string, number | undefined>>;
  /** 1: the cost did not grow. */
  readonly growth?: Readonly<Record<string, number | undefined>>;
}

export interface Scenario {
  readonly name: string;
  /** One line, for the list and the report. */
  readonly title: string;
  /** Where jobs are kept and what a commit survives, in words: printed with every number. */
  readonly mode: string;
  readonly jobs: number;
  readonly quickJobs: number;
  /** Default 5. */
  readonly rounds?: number;
  /** What exactly is timed, one sentence per line; printed in the README. */
  readonly measures: readonly string[];
  entries(plan: Plan): readonly Entry[];
  conclude?(results: Results): Conclusion;
}

/** The name of an entry within its scenario. */
export function entryName({ contender, variant }: Entry): string {
  return variant === undefined ? contender : `${contender}:${variant}`;
}
