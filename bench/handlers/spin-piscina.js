/** The same work as a Piscina task. */
import { burn } from './burn.js';

export default ({ steps }) => burn(steps);
