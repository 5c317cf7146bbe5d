// Measures what millrace itself takes, interleaved with its baselines; writes test/bench/results.json and README.md.
// npm run bench [-- --rows 100000] [--plan-rows 1000000] [--large-rows 1000000]; npm run bench:check asserts what was measured.
// npm run bench -- --only rates,noise measures these parts again, and leaves the other figures as they are.
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
import { endOfRun, startsOver } from './parts/large-run.js';
import { noise } from './parts/noise.js';
import { rowCost } from './parts/row-cost.js';
import { sameRequestsCost } from './parts/same-requests.js';
import { roomyFlags } from './parts/throughput.js';
import { waiting } from './parts/waiting.js';
import { webhooks } from './parts/webhooks.js';
import { wholeRun } from './parts/whole-run.js';
import { mergeResults, readResults, resultsPage } from './results-page.js';

const options = {
  rows: { type: 'string', default: '100000' },
  'plan-rows': { type: 'string', default: '100000' },
  'large-rows': { type: 'string', default: '1000000' },
  rounds: { type: 'string', default: '3' },
  only: { type: 'string' },
} as const;
const { values } = parseArgs({ options });
const rows = Number(values.rows);
const planRows = Number(values['plan-rows']);
const rounds = Number(values.rounds);
const folder = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
const edit = (n: number) => `https://pictures.example/${n}.png,make chair ${n} blue,1k\n`;
const editWithId = (n: number) => `row-${n},${edit(n)}`;
const job = (n: number) => `{"id":"row-${n}","endpoint":"bench","input":{"n":${n}}}\n`;

const figures: Figure[] = [];
const all = parts();
const names = values.only?.split(',') ?? Object.keys(all);
for (const part of names.map((name) => all[name] ?? unknownPart(name))) {
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
const measured = { date: new Date().toISOString(), machine, figures };
const results =
  values.only === undefined ? measured : mergeResults(await readResults('test/bench/results.json'), measured);
await writeFile('test/bench/results.json', `${JSON.stringify(results, undefined, 2)}\n`);
await writeFile('test/bench/README.md', resultsPage(results));
process.stdout.write(resultsPage(results));

function parts(): Record<string, () => Promise<Figure[]>> {
  return {
    client: () => clientCpu(rounds * 10),
    throughput: () => throughputWith([]),
    roomy: () => throughputWith(roomyFlags),
    rows: async () => rowCost(await manifest('cost.csv', 20_000, edit), 20_000, rounds),
    import: () => importCost(rounds * 5),
    start: async () => startUp(await manifest('ten.csv', 10, edit), rounds * 3),
    same: async () => sameRequestsCost(await manifest('ids.csv', planRows, editWithId), planRows, rounds + 2),
    plan: async () => planMemory(await manifest('plan.csv', planRows, edit), planRows),
    rates: async () => rates(await manifest('rate.jsonl', 2_000, job), join(folder, 'rate')),
    noise: async () => [
      ...(await noise({ jobs: 300, shares: [0, 0.02, 0.1, 0.3], rounds: rounds + 2 })),
      ...(await noise({ jobs: 3_000, shares: [0, 0.02, 0.1], rounds })),
      ...(await noise({ jobs: 3_000, shares: [0.3], rounds: 1 })),
    ],
    latency: async () => latency(await manifest('late.jsonl', 40, job), join(folder, 'late'), rounds + 2),
    webhooks: () => webhooks(1_000, rounds),
    whole: async () =>
      wholeRun(await manifest('whole.jsonl', 20_000, job), 20_000, join(folder, 'whole'), rounds),
    end: () => endOfRun(join(folder, 'end', 'edits.out'), rows, rounds),
    'large-end': () => endOfRun(join(folder, 'large-end', 'edits.out'), Number(values['large-rows']), rounds),
    starts: () => startsOver(folder, rows, rounds),
    'large-starts': () => startsOver(folder, Number(values['large-rows']), rounds),
    run: async () => runMemory(await manifest('run.jsonl', rows, job), rows, join(folder, 'run')),
    waiting: () => waiting(rounds),
  };
}

function unknownPart(name: string): never {
  throw new Error(`there is no part "${name}": ${Object.keys(all).join(', ')}`);
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
  if (name.endsWith('.csv')) file.write(`${line === editWithId ? 'id,' : ''}images,prompt,resolution\n`);
  for (let n = 0; n < count; n += 1) if (!file.write(line(n))) await once(file, 'drain');
  file.end();
  await once(file, 'finish');
  return path;
}
