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
  refuseSameNames(again.figures);
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

/** A figure is known by its name: of two with one name, the second would take the place of the first. */
export function refuseSameNames(figures: readonly Figure[]): void {
  const names = figures.map(({ what }) => what);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new Error(`two figures are called "${twice}"`);
}

/** The figures as a page. */
export function resultsPage(results: Results): string {
  return `# What millrace itself takes

${whereMeasured(results)} Written by \`npm run bench\`; \`npm run bench:check\` asserts the wanted
figures. CPU is that of the client's process; the service is another one. A ratio is that of two rounds that follow
each other. \`npm run bench -- --rows 100000 --plan-rows 1000000\` measures large runs. Polling has
a [table of its own](polling/), by \`npm run bench:polling\`.
${figuresTable(results)}
${whereTheTimeWent}`;
}

/** What was found with `--profile`, and what became of it. */
const whereTheTimeWent = `
## Where the time went

By \`--profile\`, in CPU, one after the other on a machine that had other work:

- **A later start over 200,000 ended rows** took 2.1 s, against 0.55 s of csv-parse alone: 16 % collecting garbage, 14 % the hash that
  shows whether a row has changed, 9 % csv-parse, no other step over 3 %. Now the first start keeps which rows the manifest holds,
  and later ones look these up: 0.7 s, of which 0.45 s were the start of the process. Of that, 60 ms were what the CommonJS build of
  rxjs loads and nobody needs, and 80 ms the reading of ninety small files.
- **The first start**, with nothing kept, took 3.8 s: about 2.3 s for 800,000 records of the journal (185 MB), the rest as above. The
  heads of records, garbage, and checksums take 10, 10 and 8 %: nothing stands out. Now a thread reads the manifest meanwhile, plain CSV
  is split in a tenth of the time that csv-parse takes, checksums are joined by tables, and ends of lines found once. A million rows
  took 250 MB, since the index of their ids grew by copies and the thread's rows waited in memory: now it is made once as large as it
  will be, they wait in a file, and both heaps keep their young generation small.
- **A plan of ten rows** took 4.9 times as long as \`node -e 0\`: 760 kB of code in 60 files, of which it needs 330 kB, and three schemas
  of a hundred options (7 %). Then it loaded what it needs, most of it from one file, and made one schema: 2.4 times. Of what was
  left, a tenth was collecting garbage in a heap that is kept small for rows, and for ten it need not be: 2.2 times. A plan of
  100,000 rows takes a sixth less as well, in 5 MB more. A tenth less again, in runs one by one with the build before: modules of node are
  loaded at their first call, options and schemas are made as they are named, and no file is read that only passes on another one.
- **A report of 100,000 rows** writes 79 MB in 100 files, and waited for two syncs of each: two thirds of that part. Now four are written
  at once. Of its CPU a third is the search of results for eleven values, and two fifths are those files. The search of its journal (139 MB)
  for starts took 111 ms, and takes 11 since the text that is looked for begins with no quote. Now it loads a tenth of a run's code, reads costs and times as
  bytes, and writes each file in one call: 1.3 s in place of 2.3.
`;

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
