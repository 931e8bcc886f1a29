/** Tells the world what has been committed: retention hooks first, then listeners, then whoever awaits a result. */
import { announcementsOf } from '../../actors/announcements.ts';
import { showThrown, toFailure } from '../../actors/failure.ts';
import type { JobRecord, TransitionRecord } from '../../actors/vocabulary.ts';
import { EventBus } from './event-bus.ts';
import type { JobWebhookEvent, QueueEvents } from './events.ts';

/** Called when retention moves a job. What they throw is reported on the `error` event. */
export interface RetentionHooks {
  /** After the job was marked stale was committed, before `job:stale`. */
  readonly onStale?: (job: JobRecord) => unknown;
  /** After the job was deleted, before `job:deleted`; the record is its last one. */
  readonly onDelete?: (job: JobRecord) => unknown;
}

export class Teller {
  readonly bus: EventBus<QueueEvents>;
  readonly #hooks: RetentionHooks;
  readonly #onTold = new Set<(job: JobRecord, transition: TransitionRecord) => void>();

  constructor(hooks: RetentionHooks) {
    this.#hooks = hooks;
    this.bus = new EventBus<QueueEvents>((error, name) => this.report(error, `a listener of "${name}"`));
  }

  /** Calls back for every committed transition, whatever its name. What a callback throws is reported, like a listener's. */
  onTransition(callback: (job: JobRecord, transition: TransitionRecord) => void): () => void {
    this.#onTold.add(callback);
    return () => this.#onTold.delete(callback);
  }

  transition(job: JobRecord, transition: TransitionRecord): void {
    if (transition.to === 'stale') this.#hook('onStale', job);
    if (transition.to === 'deleted') this.#hook('onDelete', job);
    for (const type of announcementsOf(transition)) {
      if (!this.bus.has(type)) continue;
      const event = { type, at: transition.at, job, transition };
      if (type === 'job:deleted') this.bus.emit(type, { ...event, deletedJobId: job.id });
      else this.bus.emit(type as 'job:completed', event);
    }
    for (const callback of this.#onTold) {
      try {
        callback(job, transition);
      } catch (error) {
        this.report(error, 'an observer of transitions');
      }
    }
  }

  progress(job: JobRecord): void {
    const phase = job.phases[job.phaseIndex];
    if (!phase || !this.bus.has('job:progress')) return;
    this.bus.emit('job:progress', {
      type: 'job:progress',
      at: job.updatedAt,
      job,
      phase: phase.name,
      phaseProgress: phase.progress,
      message: phase.message,
    });
  }

  webhook(event: JobWebhookEvent): void {
    this.bus.emit(event.type, event);
  }

  /** Errors that belong to nobody's call. Without a listener they become a process warning, never a crash. */
  report(error: unknown, during: string): void {
    if (during !== 'a listener of "error"' && this.bus.has('error')) {
      this.bus.emit('error', { type: 'error', error, during });
    } else {
      process.emitWarning(`${during} failed: ${messageOf(error)}`, { type: 'MillraceWarning' });
    }
  }

  #hook(name: keyof RetentionHooks, job: JobRecord): void {
    try {
      const returned = this.#hooks[name]?.(job);
      if (returned instanceof Promise) {
        returned.catch((error: unknown) => this.report(error, `retention.${name}`));
      }
    } catch (error) {
      this.report(error, `retention.${name}`);
    }
  }
}

/** Anything can be thrown, also what has no message and cannot be made a string. */
function messageOf(thrown: unknown): string {
  const { name, message } = toFailure(thrown);
  return name === 'NonError' ? showThrown(thrown) : message;
}
