import { readFile } from 'node:fs/promises';
import { isReached, type Figure } from './figure.js';

export interface Results {
  readonly date: string;
  readonly machine: {
    readonly cpu: string;
    readonly cores: number;
    readonly load?: number | undefined;
    readonly node: string;
  };
  readonly figures: readonly Figure[];
  /** What a reader must know of figures that were not all taken by one `npm run bench` on a quiet machine. */
  readonly remarks?: readonly string[];
}

export async function readResults(path: string): Promise<Results> {
  return JSON.parse(await readFile(path, 'utf8')) as Results;
}

/** The results with some figures measured again: each stands where it stood, a new one behind the one before it. */
export function mergeResults(known: Results, again: Results): Results {
  const figures = [...known.figures];
  let behind = figures.length - 1;
  for (const figure of again.figures) {
    const place = figures.findIndex(({ what }) => what === figure.what);
    if (place >= 0) figures[place] = figure;
    else figures.splice(behind + 1, 0, figure);
    behind = place >= 0 ? place : behind + 1;
  }
  const [first, last] = [again.figures[0]?.what, again.figures.at(-1)?.what];
  const { cpu, cores, load = 0 } = again.machine;
  const remark = `Measured on ${again.date.slice(0, 10)} by itself, ${cores} × ${cpu}, load ${load.toFixed(1)}: "${first}" to "${last}".`;
  const remarks = (known.remarks ?? []).filter((text) => !text.endsWith(remark.slice(remark.indexOf('"'))));
  return { ...known, figures, remarks: [...remarks, remark] };
}

/** The figures as a page. */
export function resultsPage(results: Results): string {
  return `# What millrace itself takes

${whereMeasured(results)} Written by \`npm run bench\`; \`npm run bench:check\` asserts the wanted
figures. CPU is that of the client's process; the service is another one. A ratio is that of two rounds that follow
each other. \`npm run bench -- --rows 100000 --plan-rows 1000000\` measures large runs. Polling has
a [table of its own](polling/), by \`npm run bench:polling\`.
${figuresTable(results)}
`;
}

export function whereMeasured({ date, machine: { cpu, cores, load = 0, node } }: Results): string {
  return `Measured on ${date.slice(0, 10)}: ${cores} × ${cpu}, Node ${node}, load ${load.toFixed(1)}.`;
}

/** The figures as a table, below what a reader must know of them. */
export function figuresTable({ figures, remarks = [] }: Results): string {
  return `${remarks.map((remark) => `\n- ${remark}`).join('')}

| | median | lowest – highest | wanted | reached |
|---|---|---|---|---|
${figures.map(line).join('\n')}`;
}

function line(figure: Figure): string {
  const { what, unit, median, low, high, limit, note } = figure;
  const wanted =
    limit === undefined ? (note ?? '') : 'atMost' in limit ? `≤ ${limit.atMost}` : `≥ ${limit.atLeast}`;
  const reached = limit === undefined ? '' : isReached(figure) ? 'yes' : 'no';
  return `| ${what} | ${shown(median)} ${unit} | ${shown(low)} – ${shown(high)} | ${wanted} | ${reached} |`;
}

function shown(value: number): string {
  return value >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)));
}
