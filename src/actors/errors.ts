/**
 * The base of all errors Millrace throws on purpose, and the one that both sides of a thread need. The others are the
 * runtime's own (`runtime/errors.ts`).
 */

/** Every `code` a {@link MillraceError} can carry. */
export type MillraceErrorCode =
  | 'invalid_input'
  | 'not_found'
  | 'conflict'
  | 'shutting_down'
  | 'shutdown_timeout'
  | 'store_unavailable'
  | 'store_busy'
  | 'store_full'
  | 'store_corrupt'
  | 'store_readonly'
  | 'store_newer'
  | 'phases_changed'
  | 'job_failed'
  | 'job_cancelled'
  | 'bad_result'
  | 'bad_handler'
  | 'webhook_not_verified'
  | 'stream_refused'
  | 'missing_dependency';

/** Base of all errors Millrace throws on purpose. */
export class MillraceError extends Error {
  readonly code: MillraceErrorCode;

  constructor(code: MillraceErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** An option or argument is wrong. `field` names it; nothing was written. */
export class InvalidInputError extends MillraceError {
  readonly field: string;

  constructor(field: string, message: string, options?: ErrorOptions) {
    super('invalid_input', `${field}: ${message}`, options);
    this.field = field;
  }
}
