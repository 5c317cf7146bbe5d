// Measures what millrace itself takes, interleaved with its baselines; writes test/bench/results.json and README.md.
// npm run bench [-- --rows 100000] [--plan-rows 1000000]; npm run bench:check asserts what was measured.
import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { isReached, type Figure } from './figure.js';
import { clientCpu } from './parts/client-cpu.js';
import { importCost, latency, planMemory, rates, runMemory, startUp } from './parts/command-line.js';
import { rowCost } from './parts/row-cost.js';
import { roomyFlags } from './parts/throughput.js';
import { resultsPage } from './results-page.js';

const options = {
  rows: { type: 'string', default: '100000' },
  'plan-rows': { type: 'string', default: '100000' },
  rounds: { type: 'string', default: '3' },
} as const;
const { values } = parseArgs({ options });
const rows = Number(values.rows);
const planRows = Number(values['plan-rows']);
const rounds = Number(values.rounds);
const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const edit = (n: number) => `https://pictures.example/${n}.png,make chair ${n} blue,1k\n`;
const job = (n: number) => `{"id":"row-${n}","endpoint":"bench","input":{"n":${n}}}\n`;

const figures: Figure[] = [];
for (const part of parts()) {
  for (const figure of await part()) {
    figures.push(figure);
    process.stderr.write(
      `${isReached(figure) ? ' ' : '!'} ${figure.what}: ${figure.median.toFixed(3)} ${figure.unit}\n`,
    );
  }
}
await rm(folder, { recursive: true });
const machine = {
  cpu: cpus()[0]?.model ?? '',
  cores: cpus().length,
  load: loadavg()[0],
  node: process.version,
};
const results = { date: new Date().toISOString(), machine, figures };
await writeFile('test/bench/results.json', `${JSON.stringify(results, undefined, 2)}\n`);
await writeFile('test/bench/README.md', resultsPage(results));
process.stdout.write(resultsPage(results));

function parts(): (() => Promise<Figure[]>)[] {
  return [
    () => clientCpu(rounds * 10),
    () => throughputWith([]),
    () => throughputWith(roomyFlags),
    async () => rowCost(await manifest('cost.csv', 20_000, edit), 20_000, rounds),
    async () => importCost(rounds * 5),
    async () => startUp(await manifest('ten.csv', 10, edit), rounds),
    async () => planMemory(await manifest('plan.csv', planRows, edit), planRows),
    async () => rates(await manifest('rate.jsonl', 2_000, job), join(folder, 'rate')),
    async () => latency(await manifest('late.jsonl', 40, job), join(folder, 'late'), rounds + 2),
    async () => runMemory(await manifest('run.jsonl', rows, job), rows, join(folder, 'run')),
  ];
}

/** In a process of its own: how its memory is laid out is what most depends on. */
async function throughputWith(flags: readonly string[]): Promise<Figure[]> {
  const script = ['.config/run-ts.mjs', 'test/bench/throughput-process.ts', String(rounds + 2)];
  const { stdout } = await promisify(execFile)(process.execPath, [...flags, ...script]);
  return JSON.parse(stdout) as Figure[];
}

async function manifest(name: string, count: number, line: (n: number) => string): Promise<string> {
  const path = join(folder, name);
  const file = createWriteStream(path);
  if (name.endsWith('.csv')) file.write('images,prompt,resolution\n');
  for (let n = 0; n < count; n += 1) if (!file.write(line(n))) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
  return path;
}
