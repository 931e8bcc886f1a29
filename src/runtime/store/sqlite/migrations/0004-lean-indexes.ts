/** Indexes that a change of status alone leaves alone. Earlier ones of these names looked at the status with every change of a row. */

export const sql = `
DROP INDEX IF EXISTS millrace_jobs_held;
DROP INDEX IF EXISTS millrace_jobs_finished;
DROP INDEX IF EXISTS millrace_jobs_stale;
DROP INDEX IF EXISTS millrace_jobs_expiring;

CREATE INDEX millrace_jobs_held ON millrace_jobs (lease_owner) WHERE lease_owner IS NOT NULL;
CREATE INDEX millrace_jobs_finished ON millrace_jobs (finished_at) WHERE finished_at IS NOT NULL AND stale_at IS NULL;
CREATE INDEX millrace_jobs_stale ON millrace_jobs (stale_at) WHERE stale_at IS NOT NULL;
CREATE INDEX millrace_jobs_expiring ON millrace_jobs (expires_at)
  WHERE expires_at IS NOT NULL AND started_at IS NULL AND finished_at IS NULL;
`;
