// Measures runs over a database beside local ones; writes test/bench/distributed/results.json and README.md.
// npm run bench:distributed [-- --rounds 3] [--rows 3000] [--only beside,rate,waiting]; npm run bench:check asserts what was measured.
import { writeFile } from 'node:fs/promises';
import { cpus, loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { isReached, type Figure } from '../figure.js';
import { figuresTable, mergeResults, readResults, type Results, whereMeasured } from '../results-page.js';
import { besideLocal } from './beside-local.js';
import { measureRate, measureWaiting } from './large-fleet.js';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '3000' },
    rounds: { type: 'string', default: '3' },
    rate: { type: 'string', default: '100' },
    waiting: { type: 'string', default: '50000' },
    only: { type: 'string' },
  },
});
const folder = 'test/bench/distributed';
const load = loadavg()[0];
const all: Record<string, () => Promise<Figure[]>> = {
  beside: () => besideLocal(Number(values.rows), Number(values.rounds)),
  rate: () => measureRate(Number(values.rate)),
  waiting: () => measureWaiting(Number(values.waiting)),
};
const figures: Figure[] = [];
for (const name of values.only?.split(',') ?? Object.keys(all)) {
  const part = all[name];
  if (part === undefined) throw new Error(`there is no part "${name}": ${Object.keys(all).join(', ')}`);
  figures.push(...(await part()));
}
for (const one of figures)
  process.stdout.write(`${isReached(one) ? ' ' : '!'} ${one.what}: ${one.median.toFixed(3)} ${one.unit}\n`);
const machine = { cpu: cpus()[0]?.model ?? '', cores: cpus().length, load, node: process.version };
const measured: Results = { date: new Date().toISOString(), machine, figures };
const results =
  values.only === undefined ? measured : mergeResults(await readResults(`${folder}/results.json`), measured);
await writeFile(`${folder}/results.json`, `${JSON.stringify(results, undefined, 2)}\n`);
await writeFile(`${folder}/README.md`, page(results));

function page(shown: Results): string {
  return `# Runs over a database, beside local ones

${whereMeasured(shown)} Written by \`npm run bench:distributed\`; \`npm run bench:check\` asserts the wanted figures.

The runs of a round follow each other: the same echo jobs of 20 ms, by the command line as it stands. The emulator, the workers,
the collector and the PostgreSQL are processes of their own on this machine, so that its cores are shared by all of them, and a rate is a
statement about this machine. CPU is that of the whole local run, or of the whole collector, of workers that have done 800 rows each before,
and of all processes of PostgreSQL. Rows a second and the time from submission to end are read from the times in the journal.

${figuresTable(shown)}

**What the database does a row.** Rows are inserted in batches of up to 500. A worker claims them in one transaction, and writes the
records of its rows (the intent, the job id, the reply, the end) in groups: all that wait are one transaction, which locks the run's
ledger and checks that the worker still has its rows. That is why a row costs a tenth of a commit where many are in flight,
and a commit or more where one is.

**More workers on one machine** share its cores: what a claim, a commit and a notification cost is shared by fewer rows. On machines
of their own workers add up until the database is at its limit.
`;
}
