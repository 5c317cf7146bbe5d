import type { PriceBook } from '../../batch/ledger/price-book.js';
import type { Plan } from '../../batch/manifest/plan-manifest.js';
import type { ManifestItem } from '../../batch/manifest/manifest-row.js';
import { formatMoney } from '../words/amounts.js';
import { plainText } from '../words/plain-text.js';
import { plannedRow } from './planned-row.js';
import type { SavedPlan } from './read-plan.js';
import type { PlannedRow } from './saved-plan.js';

/** What a start would do, to be held to a plan. */
export interface StartByPlan {
  /** The manifest's bytes, read from the beginning by each call. */
  readonly bytes: () => AsyncIterable<Uint8Array>;
  /** The rows that are to be done, read from the beginning by each call. */
  readonly items: () => AsyncIterable<ManifestItem>;
  readonly prices: PriceBook;
}

/** What is not as it was planned. */
export interface PlanDiff {
  /** The first of the changed rows, a line each. */
  readonly lines: readonly string[];
  readonly count: number;
  readonly cost: Plan['cost'];
}

const shown = 10;

/** Compares row by row, by id. Keeps the plan's rows: for a start that is refused. */
export async function diffPlan(plan: SavedPlan, { items, prices }: StartByPlan): Promise<PlanDiff> {
  const before = new Map<string, PlannedRow>();
  for await (const row of plan.rows()) before.set(row.id, row);
  const lines: string[] = [];
  const cost = { estimated: 0, unpriced: 0 };
  let count = 0;
  const tell = (row: PlannedRow, what: string | undefined): void => {
    if (what === undefined) return;
    if (++count <= shown) lines.push(`row ${row.row} (id "${plainText(row.id, 60)}") ${what}`);
  };
  for await (const item of items()) {
    const row = plannedRow(item, prices);
    if (row.price === null) cost.unpriced++;
    else cost.estimated += row.price;
    tell(row, changeOf(before.get(row.id), row));
    before.delete(row.id);
  }
  for (const row of before.values()) tell(row, 'is gone');
  return { lines, count, cost };
}

function changeOf(before: PlannedRow | undefined, now: PlannedRow): string | undefined {
  if (before === undefined) return 'is new';
  const isPriced = before.price !== now.price;
  const price = isPriced ? `costs ${priceOf(now)}, was ${priceOf(before)}` : undefined;
  if (before.hash === now.hash) return price;
  if (now.hash === '') return 'is invalid now';
  const what = before.hash === '' ? 'was invalid, and is sent now' : 'has changed';
  return price === undefined ? what : `${what} and ${price}`;
}

function priceOf({ price }: PlannedRow): string {
  return price === null ? 'nobody knows what' : formatMoney(price);
}
