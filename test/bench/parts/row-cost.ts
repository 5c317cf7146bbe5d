import { createReadStream } from 'node:fs';
import { parse } from 'csv-parse';
import { lastValueFrom, of } from 'rxjs';
import { planManifest } from '../../../runners/batch/manifest/plan-manifest.js';
import { readManifest } from '../../../runners/batch/manifest/read-manifest.js';
import { pullJobs, type JobEvent } from '../../../src/index.js';
import { cpuOf, figure, ratios, type Figure } from '../figure.js';

/** What a row costs where nothing is sent: the fan-out, and the reading and checking of a manifest. */
export async function rowCost(file: string, rows: number, rounds: number): Promise<Figure[]> {
  const pulled: number[] = [];
  const planned: number[] = [];
  const bare: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const pull = (await cpuOf(pullMany)) / pulledRows;
    const parsed = (await cpuOf(() => parseBare(file))) / rows;
    const plan = (await cpuOf(() => planOf(file))) / rows;
    if (round < 0) continue;
    pulled.push(pull);
    bare.push(parsed);
    planned.push(plan);
  }
  return [
    figure('pullJobs: a row of the fan-out', 'µs CPU', pulled, { limit: { atMost: 2 } }),
    figure('bare csv-parse, a row', 'µs CPU', bare),
    figure('plan, a row', 'µs CPU', planned),
    figure('plan: speed against bare csv-parse', '×', ratios(bare, planned), { limit: { atLeast: 0.35 } }),
  ];
}

const pulledRows = 200_000;
const settled: JobEvent<number> = {
  type: 'settled',
  outcome: { status: 'completed', jobId: 'j', output: 1, costUsd: null },
};

function pullMany(): Promise<unknown> {
  const rows = Array.from({ length: pulledRows }, (_, n) => n);
  const job = of(settled);
  return lastValueFrom(pullJobs(rows, () => job, { concurrency: 50 }));
}

async function parseBare(file: string): Promise<number> {
  let rows = 0;
  for await (const row of createReadStream(file).pipe(parse({ columns: true }))) rows += row === null ? 0 : 1;
  return rows;
}

async function planOf(file: string): Promise<void> {
  const settings = { name: file, format: 'csv', gzip: false, endpoint: 'edit' } as const;
  await planManifest(readManifest(createReadStream(file), settings), { priceOf: () => 87_500 });
}
