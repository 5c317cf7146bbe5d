import { createReadStream } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { SameRequests } from '../../../runners/batch/manifest/duplicates/same-requests.js';
import { planManifest } from '../../../runners/batch/manifest/plan-manifest.js';
import { readManifest } from '../../../runners/batch/manifest/read-manifest.js';
import { rowWith } from '../../support/whole-values.js';
import { cpuOf, figure, ratios, type Figure } from '../figure.js';

const notedRows = 1_000_000;

/**
 * What the search for rows with the same request adds to a plan. The rows have ids: for those without one the plan makes
 * a real hash of each request, beside which the search is small.
 */
export async function sameRequestsCost(file: string, rows: number, rounds: number): Promise<Figure[]> {
  const bytes = bytesPerRow();
  const once: number[] = [];
  const searched: number[] = [];
  for (let round = -1; round < rounds; round += 1) {
    const plain = (await cpuOf(() => planOf(file, false))) / rows;
    const search = (await cpuOf(() => planOf(file, true))) / rows;
    if (round < 0) continue;
    once.push(plain);
    searched.push(search);
  }
  return [
    figure('plan of rows with ids, a row', 'µs CPU', searched),
    figure('the same against a plan that looks for no same requests', '×', ratios(searched, once), {
      limit: { atMost: 1.2 },
    }),
    figure(`memory of that search in ${notedRows} rows, a row`, 'bytes', [bytes], {
      limit: { atMost: 14 },
    }),
  ];
}

async function planOf(file: string, isSearching: boolean): Promise<void> {
  const settings = { name: file, format: 'csv', gzip: false, endpoint: 'edit' } as const;
  const read = () => readManifest(createReadStream(file), settings);
  await planManifest(read(), { priceOf: () => 87_500, ...(isSearching && { again: read }) });
}

function bytesPerRow(): number {
  const requests = new SameRequests();
  collectGarbage();
  const before = process.memoryUsage().arrayBuffers;
  for (let n = 0; n < notedRows; n += 1) requests.note(rowWith({ request: { kind: 'job', input: { n } } }));
  collectGarbage();
  const bytes = (process.memoryUsage().arrayBuffers - before) / notedRows;
  if (requests.needsSecondPass()) throw new Error('no two of these rows have the same request');
  return bytes;
}

function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}
