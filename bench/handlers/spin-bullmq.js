/** The same work as a BullMQ sandboxed processor. */
import { burn } from './burn.js';

export default async (job) => burn(job.data.steps);
