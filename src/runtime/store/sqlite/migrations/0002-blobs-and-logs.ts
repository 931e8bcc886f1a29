/** Binary values of results, and the lines handlers wrote. */

export const sql = `
CREATE TABLE millrace_blobs (
  job_id TEXT NOT NULL,
  phase  TEXT NOT NULL,
  n      INTEGER NOT NULL,
  path   TEXT NOT NULL,                                   -- JSON array: where in the result the value belongs
  kind   TEXT NOT NULL CHECK (kind IN ('Uint8Array', 'ArrayBuffer')),
  body   BLOB NOT NULL,
  UNIQUE (job_id, phase, n)
) STRICT;

CREATE TABLE millrace_logs (
  n       INTEGER PRIMARY KEY,
  job_id  TEXT NOT NULL,
  at      INTEGER NOT NULL,
  phase   TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  level   TEXT NOT NULL CHECK (level IN ('debug', 'info', 'warn', 'error')),
  text    TEXT NOT NULL
) STRICT;

CREATE INDEX millrace_logs_job ON millrace_logs (job_id);
`;
