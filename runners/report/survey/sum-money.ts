import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { readCosts } from '../read/read-costs.js';
import { Spending, type Spend } from './spending.js';

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
  readonly spending: Iterable<Spend> & { readonly length: number };
}

/** Adds up costs.csv. */
export async function sumMoney(disk: Disk, folder: string): Promise<Money> {
  const total = nothing();
  const byResolution = new Map<string, MoneyRow>();
  const spending = new Spending();
  for await (const { cost: amount, source, resolution, at } of readCosts(disk, folder)) {
    if (!(amount > 0)) continue;
    const part = byResolution.get(resolution) ?? nothing();
    byResolution.set(resolution, part);
    for (const sum of [total, part]) {
      sum.purchases++;
      sum[source] += amount;
    }
    if (!Number.isNaN(at)) spending.add({ at, amount, source });
  }
  const dearestFirst = [...byResolution].sort(([, a], [, b]) => allOf(b) - allOf(a));
  return { total, byResolution: new Map(dearestFirst), spending };
}

export function allOf(row: MoneyRow): MicroDollars {
  return row.reported + row.estimated + row.unknown;
}

function nothing(): MoneyRow {
  return { purchases: 0, reported: 0, estimated: 0, unknown: 0 };
}
