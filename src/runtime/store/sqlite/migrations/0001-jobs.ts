/** The first schema. Columns are explained in docs/durability.md; the other indexes of millrace_jobs are in 0004. */

export const sql = `
CREATE TABLE millrace_machines (
  version  INTEGER PRIMARY KEY,
  pipeline TEXT NOT NULL,
  phases   TEXT NOT NULL,            -- JSON array of phase names
  UNIQUE (pipeline, phases)
) STRICT;

CREATE TABLE millrace_runtimes (
  id            TEXT PRIMARY KEY,
  host          TEXT NOT NULL,
  pid           INTEGER NOT NULL,
  process_start TEXT
) STRICT;

CREATE TABLE millrace_jobs (
  n                INTEGER PRIMARY KEY AUTOINCREMENT,    -- age: the order of birth
  id               TEXT NOT NULL UNIQUE,
  pipeline         TEXT NOT NULL,
  machine_version  INTEGER NOT NULL,
  status           TEXT NOT NULL,
  priority         INTEGER NOT NULL,
  scheduled_at     INTEGER NOT NULL,
  phase_index      INTEGER NOT NULL CHECK (phase_index >= 0),
  current_phase    TEXT,
  attempt          INTEGER NOT NULL CHECK (attempt >= 0),
  max_attempts     INTEGER NOT NULL CHECK (max_attempts >= 1),
  seq              INTEGER NOT NULL CHECK (seq >= 0),
  fence            INTEGER NOT NULL CHECK (fence >= 0),
  lease_owner      TEXT,
  lease_expires_at INTEGER,
  progress         INTEGER NOT NULL CHECK (progress BETWEEN 0 AND 100),
  progress_message TEXT,
  created_at       INTEGER NOT NULL,
  updated_at       INTEGER NOT NULL,
  started_at       INTEGER,
  attempt_at       INTEGER,
  finished_at      INTEGER,
  stale_at         INTEGER,
  expires_at       INTEGER,
  timeout_ms       INTEGER,
  timeout_at       INTEGER,
  webhook_url      TEXT,
  webhook_sent     INTEGER NOT NULL CHECK (webhook_sent IN (0, 1)),
  reason           TEXT,
  error            TEXT,                                  -- JSON
  phases           TEXT,                                  -- JSON; NULL while nobody has touched them
  data             TEXT,                                  -- JSON; NULL when kept in millrace_payloads
  CHECK (fence = 0 OR started_at IS NOT NULL),
  -- What each status means. One CASE: it is asked with every change of status, and a check per rule took several times as long.
  CONSTRAINT fields_fit_status CHECK (CASE
    WHEN status = 'active' THEN
      lease_owner IS NOT NULL AND lease_expires_at IS NOT NULL AND current_phase IS NOT NULL AND started_at IS NOT NULL
      AND attempt > 0 AND finished_at IS NULL AND stale_at IS NULL
    WHEN lease_owner IS NOT NULL OR lease_expires_at IS NOT NULL THEN 0
    WHEN status IN ('completed', 'failed', 'cancelled') THEN finished_at IS NOT NULL AND stale_at IS NULL
    WHEN status IN ('pending', 'retrying', 'blocked', 'paused') THEN finished_at IS NULL AND stale_at IS NULL
    WHEN status = 'stale' THEN finished_at IS NOT NULL AND stale_at IS NOT NULL
    ELSE 0 END)
) STRICT;

-- Claiming seeks (pipeline, phase, priority) and reads due jobs in order: finished and delayed jobs are never passed.
CREATE INDEX millrace_jobs_claim ON millrace_jobs (pipeline, phase_index, priority DESC, scheduled_at)
  WHERE status IN ('pending', 'retrying');
CREATE INDEX millrace_jobs_status ON millrace_jobs (status);

-- Values kept apart from the job's row, so that a transition or progress update never rewrites them.
CREATE TABLE millrace_payloads (
  job_id TEXT NOT NULL,
  name   TEXT NOT NULL,                                   -- a phase's name, or '' for the job's data
  body   TEXT NOT NULL,                                   -- JSON
  UNIQUE (job_id, name)
) STRICT;

-- The append-only log. AUTOINCREMENT: a position is never used twice, whatever is pruned.
CREATE TABLE millrace_transitions (
  position   INTEGER PRIMARY KEY AUTOINCREMENT,
  job_id     TEXT NOT NULL,
  seq        INTEGER NOT NULL CHECK (seq >= 0),
  pipeline   TEXT NOT NULL,
  from_state TEXT,
  to_state   TEXT NOT NULL,
  event      TEXT NOT NULL,
  phase      TEXT,
  attempt    INTEGER NOT NULL,
  error      TEXT,                                        -- JSON
  at         INTEGER NOT NULL,
  UNIQUE (job_id, seq),
  CHECK ((from_state IS NULL) = (seq = 0))
) STRICT;

-- How many jobs there are: kept by every commit, so that asking costs nothing however many there are.
CREATE TABLE millrace_counts (
  pipeline TEXT NOT NULL,
  status   TEXT NOT NULL,
  jobs     INTEGER NOT NULL CHECK (jobs >= 0),
  PRIMARY KEY (pipeline, status)
) STRICT, WITHOUT ROWID;
`;
