/** The speeds of a run as an SVG: one panel per kind of work, one bar per contender. */
import { show, type toJson } from './report.ts';

type Result = ReturnType<typeof toJson>;

interface Panel {
  readonly title: string;
  readonly bars: readonly (readonly [contender: string, value: number])[];
}

const PANELS = [
  ['drain', 'jobsPerSecond', 'no-op jobs run per second, one process'],
  ['drain', 'processesJobsPerSecond', 'no-op jobs run per second, a process per worker'],
  ['enqueue', 'singlePerSecond', 'jobs taken in per second, one per call, 100 callers'],
  ['enqueue', 'bulkPerSecond', 'jobs taken in per second, 1,000 per call'],
  ['threads', 'jobsPerSecond1ms', 'jobs of 1 ms CPU per second, two threads'],
  ['threads', 'jobsPerSecond10ms', 'jobs of 10 ms CPU per second, two threads'],
] as const;

const [WIDTH, LEFT, RIGHT, BAR, GAP] = [760, 130, 90, 18, 6] as const;

export function chart(header: readonly string[], results: readonly Result[]): string {
  const panels = PANELS.flatMap(([scenario, name, title]) => panelOf(results, scenario, name, title));
  const parts: string[] = [];
  let y = 24;
  for (const line of header.flatMap(wrapped)) {
    parts.push(`<text x="16" y="${y}" class="note">${xml(line)}</text>`);
    y += 15;
  }
  for (const { title, bars } of panels) {
    y += 26;
    parts.push(`<text x="16" y="${y}" class="title">${xml(title)}</text>`);
    y += 10;
    const most = Math.max(...bars.map(([, value]) => value));
    for (const [contender, value] of bars) {
      const width = Math.max(1, ((WIDTH - LEFT - RIGHT) * value) / most);
      const middle = y + BAR / 2 + 4;
      parts.push(
        `<text x="${LEFT - 8}" y="${middle}" text-anchor="end">${xml(contender)}</text>`,
        `<rect x="${LEFT}" y="${y}" width="${width.toFixed(1)}" height="${BAR}" class="${kind(contender)}"/>`,
        `<text x="${(LEFT + width + 6).toFixed(1)}" y="${middle}">${show(value)}</text>`,
      );
      y += BAR + GAP;
    }
  }
  const height = y + 16;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img">
<title>Millrace benchmark results</title>
<style>
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-weight: 600; font-size: 13px }
.note { font-size: 10px; fill: #57606a }
.own { fill: #0969da } .peer { fill: #afb8c1 } .limit { fill: none; stroke: #57606a; stroke-dasharray: 3 2 }
</style>
<rect width="100%" height="100%" fill="#ffffff"/>
${parts.join('\n')}
</svg>
`;
}

function panelOf(results: readonly Result[], scenario: string, name: string, title: string): Panel[] {
  const result = results.find((each) => each.scenario === scenario);
  if (!result) return [];
  const all = { millrace: result.millrace, ...result.peers, limit: result.limit };
  const bars = Object.entries(all).flatMap(([contender, numbers]) => {
    const value = numbers[name];
    return value === undefined ? [] : [[contender, value] as const];
  });
  return bars.length > 1 || (bars.length === 1 && bars[0]?.[0] === 'millrace') ? [{ title, bars }] : [];
}

/** SVG text does not wrap by itself. */
function wrapped(line: string): string[] {
  return line.match(/.{1,140}(?:\s|$)/g) ?? [line];
}

function kind(contender: string): string {
  return contender === 'millrace' ? 'own' : contender === 'limit' ? 'limit' : 'peer';
}

function xml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
