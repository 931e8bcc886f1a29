/** A handler in TypeScript. */
import { defineHandler, type JobRecord } from 'millrace/threads';

const FACTOR = 2 as const;

export default defineHandler((job: JobRecord<string, { width: number }>) => ({
  width: job.data.width * FACTOR,
  label: 'resized' as const,
}));

export const named = defineHandler<{ width: number }>()((job) => job.data.width);
