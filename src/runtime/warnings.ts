/** Configurations that are allowed but can hardly be meant. */
import type { AnyPipeline } from './pipeline.ts';

/** `maxAttempts` that only crashes and timeouts can use up, because every thrown error is fatal. */
export function warnOfIdleRetries(pipelines: readonly AnyPipeline[]): void {
  for (const { name, settings } of pipelines) {
    const { maxAttempts = 1, classify, disposition } = settings.retry ?? {};
    if (maxAttempts > 1 && !classify && !disposition) {
      process.emitWarning(
        `Pipeline "${name}" has retry.maxAttempts ${maxAttempts}, but errors are fatal unless somebody says otherwise: only crashes, timeouts, ` +
          "RecoverableError and RetryAfter will be retried. Set retry.classify, or retry.disposition to 'recoverable' (or 'fatal', if this is meant).",
        { type: 'MillraceWarning', code: 'MILLRACE_IDLE_RETRIES' },
      );
    }
  }
}
