/** Shows what the queue tells: a bar per job on a terminal, plain lines anywhere else. */

const BAR = 24;
const REPAINT_MS = 60;
const HIDE_CURSOR = '\x1b[?25l';
const SHOW_CURSOR = '\x1b[?25h';
const TO_END_OF_SCREEN = '\x1b[J';
const COLORS = { completed: 32, failed: 31, cancelled: 33, retrying: 35, active: 36 };

const { stdout } = process;
// `hasColors` knows of NO_COLOR and of terminals that have none.
const colored = Boolean(stdout.isTTY && stdout.hasColors());
export const paint = (code, text) => (colored && code ? `\x1b[${code}m${text}\x1b[0m` : text);

/** @param ids the jobs, in the order of their lines */
export function openScreen(queue, ids) {
  const lines = new Map(ids.map((id) => [id, { status: 'pending', percent: 0, text: 'waiting' }]));
  const live = stdout.isTTY && process.env.TERM !== 'dumb' && stdout.rows > ids.length + 2;
  const show = live ? bars(lines) : plainly(lines);

  // Listeners are told after the commit: what is shown here is in the database already.
  const told = (job, text) => show.change(job.id, { status: job.status, percent: job.progress, text });
  queue.on('job:started', ({ job }) => told(job, job.attempt > 1 ? `attempt ${job.attempt}` : 'begins'));
  queue.on('job:progress', ({ job, phase, message }) => told(job, `${phase}  ${message}`));
  queue.on('job:phase:completed', ({ job, transition }) => told(job, `${transition.phase}  done`));
  queue.on('job:retrying', ({ job, at }) => {
    told(job, `${job.error.message} Attempt ${job.attempt + 1} in ${Math.max(job.scheduledAt - at, 0)} ms`);
  });
  queue.on('job:completed', ({ job }) => told(job, `completed in ${seconds(job.finishedAt - job.startedAt)}`));
  queue.on('job:failed', ({ job }) => told(job, `failed: ${job.error.message}`));
  queue.on('job:cancelled', ({ job }) => told(job, `cancelled: ${job.reason}`));
  return show;
}

export const seconds = (ms) => `${(ms / 1_000).toFixed(1)} s`;

/** One line per job, painted over and over. */
function bars(lines) {
  let painted = 0;
  let timer = null;
  const paintAll = () => {
    clearTimeout(timer);
    timer = null;
    const up = painted > 0 ? `\x1b[${painted}A` : HIDE_CURSOR;
    stdout.write(`${up}\r${TO_END_OF_SCREEN}${[...lines].map(barLine).join('')}`);
    painted = lines.size;
  };
  return {
    change(id, line) {
      lines.set(id, line);
      timer ??= setTimeout(paintAll, REPAINT_MS);
    },
    now: paintAll,
    close() {
      clearTimeout(timer);
      if (painted > 0) stdout.write(SHOW_CURSOR);
    },
  };
}

function barLine([id, { status, percent, text }]) {
  const filled = Math.round((percent / 100) * BAR);
  const bar = paint(COLORS[status], '█'.repeat(filled)) + paint(90, '░'.repeat(BAR - filled));
  // A line that wrapped would be two lines, and the next repaint would miss one of them.
  const room = Math.max((stdout.columns ?? 80) - BAR - 19, 0);
  return `  ${id.padEnd(8)} ${bar} ${String(percent).padStart(3)}%  ${paint(COLORS[status], text.slice(0, room))}\n`;
}

/** One line per thing that happened; of progress, every quarter. */
function plainly(lines) {
  return {
    change(id, line) {
      const before = lines.get(id);
      lines.set(id, line);
      const quarter = Math.floor(line.percent / 25) !== Math.floor(before.percent / 25);
      const isProgress = line.status === 'active' && /row \d/.test(line.text);
      if (!isProgress || quarter) console.log(`  ${id.padEnd(8)} ${String(line.percent).padStart(3)}%  ${line.text}`);
    },
    now() {},
    close() {},
  };
}

/** Whoever hid the cursor may have been killed before it could show it again. */
export function showCursor() {
  if (stdout.isTTY) stdout.write(SHOW_CURSOR);
}
