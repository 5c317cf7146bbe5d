import { join } from 'node:path';
import { type MicroDollars, toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Disk } from '../../batch/disk/disk.js';
import type { ColumnCosts, ValueSummary } from '../../batch/sinks/summary-file.js';
import { isObject, type JsonObject, numberOr, objectIn } from '../read/json-object.js';
import { objectsWith } from '../read/read-jsonl.js';

/** What rows have cost by the values of one column. */
export interface ColumnSums {
  readonly column: string;
  readonly costs: ColumnCosts;
  /** Of each value; `undefined`: none. */
  readonly cap: MicroDollars | undefined;
}

/** The sums as summary.json has them, with the caps of the latest start. The journal is only read where there are such sums. */
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

const costBy = Buffer.from('"k":"cost-by"');

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
    ...(isObject(others) && { others: { values: numberOr(others['values'], 0), ...valueSums(others) } }),
  };
}

function valueSums(one: JsonObject): ValueSummary {
  return {
    purchases: numberOr(one['purchases'], 0),
    reported: numberOr(one['reported'], 0),
    estimated: numberOr(one['estimated'], 0),
    unknown: numberOr(one['unknown'], 0),
    completed: numberOr(one['completed'], 0),
    failed: numberOr(one['failed'], 0),
    held: numberOr(one['held'], 0),
  };
}

/** A person may have edited the file: what is no object is left out. */
function objectsOf(value: JsonObject): [string, JsonObject][] {
  return Object.entries(value).filter((entry): entry is [string, JsonObject] => isObject(entry[1]));
}
