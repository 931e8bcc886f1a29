/** Answers with what it was given. */
export default (job, ctx) => ({ data: job.data, phase: ctx.phase, attempt: ctx.attempt, results: ctx.phaseResults() });

export const shout = (job) => String(job.data).toUpperCase();

export const nothing = () => undefined;
