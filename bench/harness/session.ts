/** A run from the first child to the last file: whatever happens, including Ctrl-C, nothing is left behind. */
import { endTrials } from './child-process.ts';
import { UsageError } from './options.ts';
import { removeTempFolders } from './runner.ts';
import { stopServices } from './services.ts';

/** Progress and complaints go to stderr, so that stdout can be piped. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** Does the work, cleans up after it, and sets the exit code it answers with. */
export async function session(work: () => Promise<number>, help: string): Promise<void> {
  let interrupted = false;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.on(signal, () => {
      // A second one does not wait.
      if (interrupted) process.exit(130);
      interrupted = true;
      say(`\n${signal}: ending`);
      void cleanUp().then(() => process.exit(130));
    });
  }
  try {
    process.exitCode = await work();
  } catch (error) {
    // What the interruption itself broke is not worth a word.
    if (interrupted) return;
    if (!(error instanceof UsageError)) throw error;
    say(`${error.message}\n\n${help}`);
    process.exitCode = 2;
  } finally {
    if (!interrupted) await cleanUp();
  }
}

async function cleanUp(): Promise<void> {
  endTrials();
  await stopServices();
  removeTempFolders();
}
