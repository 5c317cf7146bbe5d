import { join } from 'node:path';
import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { readCsv } from '../read/read-csv.js';

const sources = ['reported', 'estimated', 'unknown'] as const;
export type PurchaseSource = (typeof sources)[number];

export interface MoneyRow {
  purchases: number;
  reported: MicroDollars;
  estimated: MicroDollars;
  unknown: MicroDollars;
}

export interface Money {
  readonly total: MoneyRow;
  /** The empty string where a purchase has no resolution. Dearest first. */
  readonly byResolution: ReadonlyMap<string, MoneyRow>;
  /** Each purchase that cost something, in order of time. */
  readonly spending: readonly { at: number; amount: MicroDollars; source: PurchaseSource }[];
}

/** Adds up costs.csv: a line a purchase. */
export async function sumMoney(disk: Disk, folder: string): Promise<Money> {
  const total = nothing();
  const byResolution = new Map<string, MoneyRow>();
  const spending: { at: number; amount: MicroDollars; source: PurchaseSource }[] = [];
  for await (const line of readCsv(disk, join(folder, 'costs.csv'))) {
    const amount = toMicroDollars(Number(line['cost']));
    const source = sources.find((name) => name === line['source']);
    if (source === undefined || !(amount > 0)) continue;
    const resolution = line['resolution'] ?? '';
    const part = byResolution.get(resolution) ?? nothing();
    byResolution.set(resolution, part);
    for (const sum of [total, part]) {
      sum.purchases++;
      sum[source] += amount;
    }
    const at = Date.parse(line['settledAt'] ?? '');
    if (!Number.isNaN(at)) spending.push({ at, amount, source });
  }
  spending.sort((a, b) => a.at - b.at);
  const dearestFirst = [...byResolution].sort(([, a], [, b]) => allOf(b) - allOf(a));
  return { total, byResolution: new Map(dearestFirst), spending };
}

export function allOf(row: MoneyRow): MicroDollars {
  return row.reported + row.estimated + row.unknown;
}

function nothing(): MoneyRow {
  return { purchases: 0, reported: 0, estimated: 0, unknown: 0 };
}
