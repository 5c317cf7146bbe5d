import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { type PurchaseSource, readCostBlocks } from '../read/read-costs.js';
import { NumberList } from './number-list.js';

export interface MoneyRow {
  /** Those that were made for sure. */
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
  for await (const purchases of readCostBlocks(disk, folder)) {
    for (const { cost: amount, source, resolution, at } of purchases) {
      if (!(amount > 0)) continue;
      const part = byResolution.get(resolution) ?? nothing();
      byResolution.set(resolution, part);
      for (const sum of [total, part]) {
        if (source !== 'unknown') sum.purchases++;
        sum[source] += amount;
      }
      if (!Number.isNaN(at)) spending.add({ at, amount, source });
    }
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

/** A purchase that cost something. */
interface Spend {
  /** In ms since the epoch. */
  readonly at: number;
  readonly amount: MicroDollars;
  readonly source: PurchaseSource;
}

const sources: readonly PurchaseSource[] = ['reported', 'estimated', 'unknown'];

/** Purchases in the order of time, each made when it is asked for: a million are kept in 17 MB. */
class Spending implements Iterable<Spend> {
  private readonly times = new NumberList();
  private readonly amounts = new NumberList();
  private readonly sources = new NumberList(Uint8Array);

  get length(): number {
    return this.times.length;
  }

  add({ at, amount, source }: Spend): void {
    this.times.push(at);
    this.amounts.push(amount);
    this.sources.push(sources.indexOf(source));
  }

  *[Symbol.iterator](): Generator<Spend, void, void> {
    for (const place of this.times.ranked()) {
      const source = sources[this.sources.at(place)] ?? 'unknown';
      yield { at: this.times.at(place), amount: this.amounts.at(place), source };
    }
  }
}
