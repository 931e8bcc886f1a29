/** Is the data what the pipeline's schema says? Asked when a job is enqueued, and again when it runs: schemas change. */
import { InvalidInputError } from '../errors.ts';
import type { AnyPipeline } from '../pipeline.ts';

/** Checks data against the pipeline's schema; answers with the schema's output. */
export async function validated(pipeline: AnyPipeline, data: unknown): Promise<unknown> {
  if (!pipeline.schema) return data;
  const outcome = await pipeline.schema['~standard'].validate(data);
  if (!outcome.issues) return outcome.value;
  const issues = outcome.issues.map(({ message, path }) => {
    const keys = path?.map((part) => (typeof part === 'object' ? part.key : part)).map(String);
    return keys?.length ? `${keys.join('.')}: ${message}` : message;
  });
  throw new InvalidInputError('data', `does not fit the input of pipeline "${pipeline.name}": ${issues.join('; ')}`);
}
