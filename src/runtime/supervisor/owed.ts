/** Which webhooks a transition owes. Pure: ids are an argument, and nothing is looked up. */
import { announcementsOf } from '../../actors/announcements.ts';
import type { StagedTransition } from '../../actors/job-actor.ts';
import type { JobRecord } from '../../actors/vocabulary.ts';
import type { NewDelivery } from '../store/delivery.ts';
import type { WebhookSettings } from '../webhook-options.ts';

/** Answers with what is owed because the job went through this transition. */
export type Owed = (job: JobRecord, transition: StagedTransition) => readonly NewDelivery[];

const NONE: readonly NewDelivery[] = [];

/** The job's own address comes before the queue's; without either, nothing is owed. */
export function owedBy({ url, events, keys }: WebhookSettings, newId: (at: number) => string): Owed {
  const signed = keys.length > 0;
  return (job, transition) => {
    const to = job.webhookUrl ?? url;
    if (to === null) return NONE;
    const { at } = transition;
    return announcementsOf(transition)
      .filter((type) => events.has(type))
      .map((type) => ({ id: newId(at), url: to, signed, event: { type, at, job, transition } }));
  };
}
