/** The outbox of webhooks: one row per delivery that is owed, or was given up not long ago. */

export const sql = `
CREATE TABLE millrace_deliveries (
  n          INTEGER PRIMARY KEY AUTOINCREMENT,           -- the order in which they came to be owed
  id         TEXT NOT NULL UNIQUE,                        -- the webhook-id
  job_id     TEXT NOT NULL,                               -- the job may be gone
  type       TEXT NOT NULL,
  url        TEXT NOT NULL,
  origin     TEXT NOT NULL,
  signed     INTEGER NOT NULL CHECK (signed IN (0, 1)),
  body       TEXT NOT NULL,                               -- JSON, as it is sent
  attempts   INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  next_at    INTEGER,                                     -- NULL behind an earlier delivery of the job, and once given up
  fence      INTEGER NOT NULL DEFAULT 0,
  owner      TEXT,                                        -- who is sending it; next_at is then when others may
  error      TEXT,
  created_at INTEGER NOT NULL,
  failed_at  INTEGER,
  CHECK (owner IS NULL OR next_at IS NOT NULL),
  CHECK (failed_at IS NULL OR next_at IS NULL)
) STRICT;

-- Looking for due ones seeks each origin's first: what waits behind another, or was given up, is never passed.
CREATE INDEX millrace_deliveries_due ON millrace_deliveries (signed, origin, next_at) WHERE next_at IS NOT NULL;
CREATE INDEX millrace_deliveries_job ON millrace_deliveries (job_id);
CREATE INDEX millrace_deliveries_owner ON millrace_deliveries (owner) WHERE owner IS NOT NULL;
CREATE INDEX millrace_deliveries_failed ON millrace_deliveries (failed_at) WHERE failed_at IS NOT NULL;
`;
