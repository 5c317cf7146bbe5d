import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeRun } from '../../support/make-run.js';
import { figure, ratios, type Figure } from '../figure.js';
import { measureCommand, type CommandCost } from '../measure-command.js';
import { makeEndedRun } from './make-ended-run.js';

const main = 'dist/runners/cli/main.js';
const env = { MILLRACE_API_KEY: 'a-key-for-the-bench' };

/** What a process takes to start is not a small part of what fewer rows take: the wanted ratios are those of a large run. */
const isLarge = (rows: number) => rows >= 1_000_000;

/** What follows the last row of a large run, beside a bare `JSON.parse` of its results: each a process of its own, in turn. */
export async function endOfRun(folder: string, rows: number, rounds: number): Promise<Figure[]> {
  await makeRun({ folder, rows, pictures: false });
  const bare: number[] = [];
  const written: number[] = [];
  const peaks: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    bare.push((await parsing('jsonl', join(folder, 'results.jsonl'))).wallMs);
    const report = await measured([main, 'report', folder]);
    written.push(report.wallMs);
    peaks.push(report.peakMb);
  }
  return [
    figure(`${rows} ended rows: JSON.parse of their results`, 'ms', bare),
    figure(`${rows} ended rows: their report`, 'ms', written),
    figure(`${rows} ended rows: their report against JSON.parse, wall time`, '×', ratios(written, bare), {
      ...(isLarge(rows) && { limit: { atMost: 3 } }),
    }),
    figure(`${rows} ended rows: their report, peak memory`, 'MB', peaks, { limit: { atMost: 250 } }),
  ];
}

/**
 * Starts over a run whose rows have all ended, beside csv-parse of the manifest: with nothing that an earlier start has kept, with all
 * that one keeps at its end, and with what one that was killed at its last row leaves if its snapshot is as old as it can be.
 */
export async function startsOver(folder: string, rows: number, rounds: number): Promise<Figure[]> {
  const { manifest, out, baseUrl, snapshot, kill } = await makeEndedRun(folder, rows);
  const start = () =>
    measured([main, 'run', manifest, '--base-url', baseUrl, '--yes', '--quiet', '--out', out]);
  const kept = ['.journal.snapshot', '.manifest.checked'].map((name) => join(out, name));
  // Writes the files of the run.
  await start();
  const spent = {
    bare: [] as Cost[],
    first: [] as CommandCost[],
    later: [] as CommandCost[],
    killed: [] as CommandCost[],
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const file of kept) await rm(file, { force: true });
    spent.bare.push(await parsing('csv', manifest));
    spent.first.push(await start());
    spent.later.push(await start());
    await writeFile(join(out, '.journal.snapshot'), snapshot);
    await kill();
    spent.killed.push(await start());
  }
  await rm(out, { recursive: true });
  await rm(manifest);
  const against = (which: Exclude<keyof typeof spent, 'bare'>, cost: keyof Cost) =>
    ratios(
      spent[which].map((each) => each[cost]),
      spent.bare.map((each) => each[cost]),
    );
  const peak = (which: Exclude<keyof typeof spent, 'bare'>) => spent[which].map(({ peakMb }) => peakMb);
  const name = `${rows} ended rows`;
  const limit = { atMost: 150 };
  const wanted = (atMost: number) => (isLarge(rows) ? { limit: { atMost } } : {});
  return [
    figure(
      `${name}: csv-parse of their manifest`,
      'ms CPU',
      spent.bare.map(({ cpuMs }) => cpuMs),
    ),
    figure(
      `${name}: a start with nothing kept, wall time against that`,
      '×',
      against('first', 'wallMs'),
      wanted(2),
    ),
    figure(`${name}: a start with nothing kept, CPU of its two threads`, '×', against('first', 'cpuMs')),
    figure(`${name}: a start with nothing kept, peak memory`, 'MB', peak('first'), { limit }),
    figure(`${name}: a start after the end, CPU`, '×', against('later', 'cpuMs'), wanted(1.4)),
    figure(`${name}: a start after the end, peak memory`, 'MB', peak('later'), { limit }),
    figure(`${name}: a start after a kill, CPU`, '×', against('killed', 'cpuMs'), wanted(1.4)),
    figure(`${name}: a start after a kill, peak memory`, 'MB', peak('killed'), { limit }),
  ];
}

type Cost = Pick<CommandCost, 'cpuMs' | 'wallMs'>;

async function parsing(format: 'csv' | 'jsonl', path: string): Promise<Cost> {
  const { stdout } = await measured(['.config/run-ts.mjs', 'test/bench/parse-process.ts', format, path]);
  return JSON.parse(stdout) as Cost;
}

async function measured(args: readonly string[]): Promise<CommandCost> {
  const cost = await measureCommand(args, env);
  if (cost.code !== 0) throw new Error(`${args.join(' ')} ended with ${String(cost.code)}: ${cost.stderr}`);
  return cost;
}
