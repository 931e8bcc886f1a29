/** One job's story: its record, its log, and which moment of it is looked at. No drawing here. */

/** What the log does not keep, so that nothing of the present is shown as past. */
const NOT_IN_THE_LOG = [
  'scheduledAt',
  'leaseOwner',
  'leaseExpiresAt',
  'timeoutAt',
  'reason',
  'progressMessage',
  'webhookSent',
];

export class Story {
  constructor({ job, history, omitted, chart }) {
    this.job = job;
    this.history = history.length > 0 ? history : [presentOf(job)];
    this.omitted = omitted;
    this.chart = chart;
    /** Index of the entry looked at; `null` follows the job. */
    this.step = null;
  }

  get last() {
    return this.history.length - 1;
  }

  /** Index of the entry on show. */
  get at() {
    return this.step === null ? this.last : Math.min(this.step, this.last);
  }

  get entry() {
    return this.history[this.at];
  }

  /** Goes to an entry; the last one means to follow. */
  goTo(index) {
    this.step = index >= this.last ? null : Math.max(0, index);
  }

  /**
   * Takes in a live event. Answers `false` if the log has a gap and must be read again; what is known already changes nothing.
   */
  take({ job, transition }) {
    const known = this.history[this.last]?.seq ?? -1;
    if (transition.seq <= known) return true;
    if (transition.seq !== known + 1 || !job) return false;
    this.history.push({ ...transition, past: null, record: job });
    this.job = job;
    return true;
  }

  /** Takes in news from inside a phase. */
  progress(job) {
    if (this.job && job.seq === this.job.seq && job.updatedAt >= this.job.updatedAt) this.job = job;
  }

  /** The record at the moment on show, as far as it is known, and how it is known. */
  get shown() {
    const { entry } = this;
    if (this.at === this.last && this.job) return { record: this.job, source: 'now' };
    if (entry?.record) return { record: entry.record, source: 'seen' };
    if (this.job && entry?.past) {
      const { results, ...past } = entry.past;
      const phaseResults = Object.fromEntries(
        Object.entries(this.job.phaseResults).filter(([name]) => results.includes(name)),
      );
      const record = { ...this.job, ...past, phaseResults };
      for (const name of NOT_IN_THE_LOG) delete record[name];
      return { record, source: 'log' };
    }
    return { record: entry ? withoutPast(entry) : {}, source: 'entry' };
  }
}

function withoutPast({ past, record, ...entry }) {
  return entry;
}

/** Stands in for a log that was pruned to nothing: the job as it is. */
function presentOf({ id, pipeline, status, currentPhase, seq, attempt, error, updatedAt }) {
  const to = status === 'active' ? `active.${currentPhase}` : status;
  return { jobId: id, pipeline, seq, from: null, to, event: '(log pruned)', attempt, error, at: updatedAt, past: null };
}
