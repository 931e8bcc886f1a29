/**
 * Boots trial.ts. tsx is registered from inside rather than by `--import`, because worker threads inherit
 * the command line: they would load tsx too, and thread starts would be measured with it.
 */
import { register } from 'tsx/esm/api';

register();
await import('./trial.ts');
