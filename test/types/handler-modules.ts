/** Handler modules as users write them; only their types are looked at. */
import { defineHandler, type JobRecord, type PhaseContext } from 'millrace/threads';

export default defineHandler((job: JobRecord<string, { url: string }>) => ({
  width: job.data.url.length,
  label: 'x' as const,
}));

export const pixels = defineHandler<{ url: string }>()(async (job) => new Uint8Array(job.data.url.length));

export const nested = defineHandler<{ url: string }>()((_job, ctx) => ({
  title: `attempt ${ctx.attempt}`,
  parts: [{ bytes: new ArrayBuffer(1) }],
  pair: [1, Buffer.alloc(1)] as const,
  maybe: null as Uint8Array | null,
}));

export const given = defineHandler<{ url: string }, number>((job) => job.data.url.length);

export const vague = defineHandler<{ url: string }>((job) => job.data.url.length);

/** `defineHandler` is a help, no duty. */
export async function plain(_job: JobRecord, ctx: PhaseContext) {
  ctx.checkpoint();
  return 'done' as const;
}

export const version = 5;
