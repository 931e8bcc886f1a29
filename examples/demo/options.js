/** What can be said on the command line. */
import { parseArgs } from 'node:util';

const HELP = `Usage: npm run demo -- [options]

  --crash        kill the process with SIGKILL half way, and start again
  --width <n>    pixels across, 16 to 8000 (default 800); the picture is 8 to 5
  --out <file>   where the picture goes (default ./millrace-demo.png)
  --help         this text`;

/** Answers with the options, or ends the process with the help text. */
export function readOptions() {
  try {
    const { values } = parseArgs({
      options: {
        crash: { type: 'boolean' },
        help: { type: 'boolean' },
        width: { type: 'string', default: '800' },
        out: { type: 'string', default: './millrace-demo.png' },
        // For the process that is to be killed: the file it shares with its successor.
        database: { type: 'string' },
      },
    });
    if (values.help) leave(0, HELP);
    const width = Number(values.width);
    if (!Number.isInteger(width) || width < 16 || width > 8_000) {
      throw new Error(`--width takes a number from 16 to 8000, not "${values.width}".`);
    }
    return { ...values, width, height: Math.round((width * 5) / 8) };
  } catch (error) {
    return leave(1, `${error.message}\n\n${HELP}`);
  }
}

function leave(code, text) {
  (code === 0 ? process.stdout : process.stderr).write(`${text}\n`);
  process.exit(code);
}
