/** Everything `import … from 'millrace/threads'` offers: what handler files need, and nothing that could open a database. */
export {
  FatalError,
  type PhaseContext,
  PhaseStoppedError,
  RecoverableError,
  RetryAfter,
} from '../actors/handler.ts';
export type { JobRecord, StopReason } from '../actors/vocabulary.ts';
export { defineHandler, type ThreadHandler } from './define-handler.ts';
