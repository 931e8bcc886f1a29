/** The picture in the terminal, if it has the colours for it: every character is two pixels, one above the other. */

const COLUMNS = 72;

export async function preview(queue, ids, width) {
  const { stdout } = process;
  if (!stdout.isTTY || !stdout.hasColors(2 ** 24) || stdout.columns < COLUMNS + 4) return;
  // Read back from the database: a finished phase's bytes stay with its job.
  const bands = await Promise.all(ids.map((id) => queue.phaseResult(id, 'render')));
  const pixels = Buffer.concat(bands);
  const height = pixels.length / 3 / width;
  const step = width / COLUMNS;
  const colorAt = (column, row) => {
    const at = (Math.min(Math.floor(row * step), height - 1) * width + Math.floor(column * step)) * 3;
    return `${pixels[at]};${pixels[at + 1]};${pixels[at + 2]}`;
  };
  console.log('');
  for (let row = 0; row < height / step - 1; row += 2) {
    let line = '  ';
    for (let column = 0; column < COLUMNS; column++) {
      line += `\x1b[38;2;${colorAt(column, row)};48;2;${colorAt(column, row + 1)}m▀`;
    }
    console.log(`${line}\x1b[0m`);
  }
}
