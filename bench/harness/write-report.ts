/** `--report`: puts the table of one real run, with its header, into bench/README.md, and draws bench/results.svg from it. */
import { readFileSync, writeFileSync } from 'node:fs';
import { chart } from './chart.ts';
import { percent, show, type toJson, words } from './report.ts';

type Result = ReturnType<typeof toJson>;

const README = new URL('../README.md', import.meta.url);
const [BEGIN, END] = ['<!-- results:begin -->', '<!-- results:end -->'];

export function writeReport(header: readonly string[], results: readonly Result[]): void {
  const text = readFileSync(README, 'utf8');
  const [before, after] = [text.split(BEGIN)[0], text.split(END)[1]];
  if (before === undefined || after === undefined) throw new Error(`bench/README.md has no ${BEGIN} … ${END}.`);
  writeFileSync(README, `${before}${BEGIN}\n${table(header, results)}\n${END}${after}`);
  writeFileSync(new URL('../results.svg', import.meta.url), chart(header, results));
  writeFileSync(new URL('../results.json', import.meta.url), `${JSON.stringify({ header, results }, null, 2)}\n`);
}

function table(header: readonly string[], results: readonly Result[]): string {
  const sections = results.map((result) => {
    const lines = [
      `### ${result.scenario}`,
      '',
      `${result.jobs.toLocaleString('en')} jobs, ${result.rounds} rounds; ${result.mode}.`,
      '',
      '| contender | measured | median | spread |',
      '|---|---|---:|---:|',
    ];
    const contenders = { millrace: result.millrace, ...result.peers, limit: result.limit };
    for (const [contender, numbers] of Object.entries(contenders)) {
      for (const [name, value] of Object.entries(numbers)) {
        const spread = percent(result.spread[contender]?.[name] ?? 0);
        lines.push(`| ${contender} | ${words(name)} | ${show(value)} | ± ${spread} |`);
      }
    }
    const facts = [
      ...Object.entries(result.ratio).map(([key, value]) => `${key} ${value.toFixed(2)} ×`),
      ...Object.entries(result.growth).map(([key, value]) => `${key} grows ${value.toFixed(2)} ×`),
    ];
    if (facts.length > 0) lines.push('', `Millrace against: ${facts.join(' · ')}`);
    if (result.noisy.length > 0) lines.push('', `Too noisy to quote: ${result.noisy.join('; ')}`);
    for (const [who, why] of Object.entries(result.skipped)) lines.push('', `Without ${who}: ${why}`);
    for (const [who, why] of Object.entries(result.refused)) lines.push('', `REFUSED ${who}: ${why.split('\n')[0]}`);
    return lines.join('\n');
  });
  return ['```', ...header, '```', '', ...sections.flatMap((section) => [section, ''])].join('\n').trimEnd();
}
