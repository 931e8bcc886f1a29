/** A Millrace thread phase that burns `steps`. */
import { burn } from './burn.js';

export default (job) => burn(job.data.steps);
