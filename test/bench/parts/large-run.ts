import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeRun } from '../../support/make-run.js';
import { figure, ratios, type Figure } from '../figure.js';
import { measureCommand, type CommandCost } from '../measure-command.js';
import { startService } from '../service/start-service.js';

const main = 'dist/runners/cli/main.js';
const env = { MILLRACE_API_KEY: 'a-key-for-the-bench' };

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
    figure(`JSON.parse of the results of ${rows} rows`, 'ms', bare),
    figure('the report of that run', 'ms', written),
    figure('the report against JSON.parse, wall time', '×', ratios(written, bare), { limit: { atMost: 3 } }),
    figure('the report: peak memory', 'MB', peaks, { limit: { atMost: 250 } }),
  ];
}

/**
 * Starts over a run whose rows have all ended, beside csv-parse of the manifest: with nothing that an earlier start has kept, with what
 * one that was killed at its last row has left, and with all that one keeps at its end.
 */
export async function startsOver(file: string, rows: number, out: string, rounds: number): Promise<Figure[]> {
  const service = await startService();
  const args = [main, 'run', file, '--base-url', service.baseUrl, '--yes', '--quiet', '--out', out];
  const snapshot = join(out, '.journal.snapshot');
  const versions = new Versions(snapshot);
  await measured([...args, '--concurrency', '50', '--http', 'undici']);
  const left = await versions.lastButOne();
  const spent = {
    bare: [] as Cost[],
    first: [] as CommandCost[],
    killed: [] as CommandCost[],
    later: [] as CommandCost[],
  };
  for (let round = 0; round < rounds; round += 1) {
    for (const kept of [snapshot, join(out, '.manifest.checked')]) await rm(kept, { force: true });
    spent.bare.push(await parsing('csv', file));
    spent.first.push(await measured(args));
    spent.later.push(await measured(args));
    await (left === undefined ? rm(snapshot) : writeFile(snapshot, left));
    spent.killed.push(await measured(args));
  }
  service.close();
  const against = (costs: readonly Cost[], which: keyof Cost = 'cpuMs') =>
    ratios(
      costs.map((cost) => cost[which]),
      spent.bare.map((cost) => cost[which]),
    );
  const peaks = [...spent.first, ...spent.killed, ...spent.later].map(({ peakMb }) => peakMb);
  return [
    figure(
      `csv-parse of a manifest of ${rows} jobs`,
      'ms CPU',
      spent.bare.map(({ cpuMs }) => cpuMs),
    ),
    figure('a start over that run with nothing kept, against it', '×', against(spent.first), {
      note: 'CPU of its two threads',
    }),
    figure('the same, wall time against that of csv-parse', '×', against(spent.first, 'wallMs'), {
      limit: { atMost: 2 },
    }),
    figure('a start after a kill at its last row, against it', '×', against(spent.killed), {
      limit: { atMost: 2 },
    }),
    figure('a start after its end, against it', '×', against(spent.later), { limit: { atMost: 1.4 } }),
    figure('all of them: peak memory', 'MB', [Math.max(...peaks)], { limit: { atMost: 150 } }),
  ];
}

/** Keeps what a file holds while it is replaced. */
class Versions {
  private readonly seen: Buffer[] = [];
  private readonly watching = setInterval(() => void this.look(), 100);

  constructor(private readonly path: string) {}

  /** Before the last one; `undefined`: it was written once. */
  async lastButOne(): Promise<Buffer | undefined> {
    clearInterval(this.watching);
    const last = await readFile(this.path);
    return this.seen.findLast((version) => !version.equals(last));
  }

  private async look(): Promise<void> {
    const bytes = await readFile(this.path).catch(() => undefined);
    if (bytes !== undefined && this.seen.at(-1)?.equals(bytes) !== true) this.seen.push(bytes);
  }
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
