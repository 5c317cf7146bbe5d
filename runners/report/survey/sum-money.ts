import { join } from 'node:path';
import { isPlainObject } from '../../../src/contract/bounded-json.js';
import { type MicroDollars, toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import { type PurchaseSource, takePurchases } from '../read/read-costs.js';
import { NumberList } from './number-list.js';
import type { ColumnCosts, ValueSummary } from '../../batch/sinks/summary-file.js';
import { type JsonObject, numberOr, objectIn } from '../read/json-object.js';
import { objectsWith } from '../read/read-jsonl.js';

export interface MoneyRow {
  /** Number of purchases that were certainly made. */
  purchases: number;
  reported: MicroDollars;
  estimated: MicroDollars;
  unknown: MicroDollars;
}

export interface Money {
  readonly total: MoneyRow;
  /** By resolution, the highest sum first; the empty string for purchases without one. */
  readonly byResolution: ReadonlyMap<string, MoneyRow>;
  /** All purchases that cost something, in order of time. */
  readonly spending: Iterable<Spend> & { readonly length: number };
}

/** Adds up costs.csv. */
export async function sumMoney(disk: Disk, folder: string): Promise<Money> {
  const total = nothing();
  const byResolution = new Map<string, MoneyRow>();
  const spending = new Spending();
  await takePurchases(disk, folder, ({ cost: amount, source, resolution, at }) => {
    if (!(amount > 0)) return;
    let part = byResolution.get(resolution);
    if (part === undefined) byResolution.set(resolution, (part = nothing()));
    part[source] += amount;
    total[source] += amount;
    if (source !== 'unknown') {
      part.purchases++;
      total.purchases++;
    }
    if (!Number.isNaN(at)) spending.add({ at, amount, source });
  });
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

/** Purchases in order of time, created on request: a million take 17 MB. */
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

/** The cost of rows by the values of one column. */
export interface ColumnSums {
  readonly column: string;
  readonly costs: ColumnCosts;
  /** The cap of each value; `undefined` if there is none. */
  readonly cap: MicroDollars | undefined;
}

/** The sums in summary.json, with the caps of the latest start. The journal is read only if there are such sums. */
export async function sumsByValue(
  disk: Disk,
  folder: string,
  summary: JsonObject,
): Promise<readonly ColumnSums[]> {
  const columns = objectsOf(objectIn(objectIn(summary, 'cost'), 'by'));
  if (columns.length === 0) return [];
  const caps = await capsByColumn(disk, folder);
  return columns.map(([column, sums]) => ({ column, costs: costsOf(sums), cap: caps.get(column) }));
}

/**
 * It does not begin with a quote, because a search stops at each occurrence of the first character; this short text is found in
 * a fifth of the time.
 */
const costBy = Buffer.from('k":"cos');

async function capsByColumn(disk: Disk, folder: string): Promise<ReadonlyMap<string, MicroDollars>> {
  let capsUsd: JsonObject = {};
  for await (const record of objectsWith(disk, join(folder, 'journal.jsonl'), () => [costBy]))
    if (record['k'] === 'cost-by') capsUsd = objectIn(record, 'capsUsd');
  return new Map(
    Object.entries(capsUsd).flatMap(([column, usd]) =>
      typeof usd === 'number' ? [[column, toMicroDollars(usd)] as const] : [],
    ),
  );
}

function costsOf(sums: JsonObject): ColumnCosts {
  const { others } = sums;
  return {
    values: Object.fromEntries(
      objectsOf(objectIn(sums, 'values')).map(([value, one]) => [value, valueSums(one)]),
    ),
    ...(isPlainObject(others) && { others: { values: numberOr(others['values'], 0), ...valueSums(others) } }),
  };
}

const parts = ['purchases', ...sources, 'completed', 'failed', 'held', 'undownloaded'] as const;

function valueSums(one: JsonObject): ValueSummary {
  const sums = parts.map((part) => [part, numberOr(one[part], 0)] as const);
  return Object.fromEntries(sums) as Record<keyof ValueSummary, number>;
}

/** Skips entries that are not objects, because a person may have edited the file. */
function objectsOf(value: JsonObject): [string, JsonObject][] {
  return Object.entries(value).filter((entry): entry is [string, JsonObject] => isPlainObject(entry[1]));
}
