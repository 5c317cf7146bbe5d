import { addPrice } from '../../../src/contract/micro-dollars.js';
import { nodeDisk, type ManifestItem, type Plan, type PriceBook } from '../../batch/formats.js';
import { PricedBytes, readRows } from '../../batch/planning.js';
import type { ManifestSource } from '../options/find-manifest.js';
import type { RunOptions } from '../options/parse-options.js';
import { selectRows } from './plan-source.js';
import { plannedSettings } from './planned-settings.js';
import { createHash } from 'node:crypto';
import { UsageError } from '../io/usage-error.js';
import { countOf, formatMoney, plainText } from '../messages/plain-text.js';
import { priceText } from '../messages/plan-text.js';
import { plannedRow, type PlannedRow, type SavedPlan, type PlannedRows } from './saved-plan.js';
import { stopCauses, takeRows, type Run, type Task } from '../../batch/internal.js';

interface FileStart {
  readonly source: ManifestSource & { readonly path: string };
  readonly options: RunOptions;
  /** Includes the assumed price. */
  readonly prices: PriceBook;
}

/**
 * Compares a start with a plan, and returns the bytes of the manifest that were compared.
 *
 * @throws {UsageError} with the differences
 */
export async function holdManifestToPlan(
  plan: SavedPlan,
  { source, options, prices }: FileStart,
): Promise<PricedBytes> {
  const { path } = source;
  const settings = await plannedSettings(source, options, prices);
  const bytes = new PricedBytes();
  const read = () => readRows(nodeDisk, { path, settings, bytes });
  await holdToPlan(plan, {
    bytes: () => bytes.read(nodeDisk, path, settings),
    items: await selectRows(read, options),
    prices,
  });
  return bytes;
}

/** Throws `UsageError` with the differences, row by row, unless the start would do exactly what was planned. */
async function holdToPlan(plan: SavedPlan, start: StartByPlan): Promise<void> {
  const isSameFile = (await sumOf(start.bytes())) === plan.foot.manifest;
  if (isSameFile && (await hasSameRows(plan, start))) return;
  const { lines, count, isInPrice, cost } = await diffPlan(plan, start);
  const { foot } = plan;
  const isDearer = cost.estimated !== foot.estimated || cost.unpriced !== foot.unpriced;
  throw new UsageError(
    [
      isSameFile
        ? `this is not what was planned: ${sameFileText(count, isInPrice)}`
        : `the manifest is not the one that was planned: ${count === 0 ? 'its bytes have changed, though no row that is sent' : `${countOf(count, 'row')} of it ${count === 1 ? 'differs' : 'differ'}`}`,
      ...lines,
      ...(count > lines.length ? [`… and ${countOf(count - lines.length, 'more row')}`] : []),
      ...(isDearer ? [`the price is ${priceText(cost)}; planned: ${priceText(foot)}`] : []),
    ],
    `nothing was sent; look at the changes and plan anew: millrace plan … --save ${plan.name}`,
  );
}

/** The difference if the manifest is the same file: a file of axes, or prices, may have changed. */
function sameFileText(count: number, isInPrice: boolean): string {
  if (count === 0) return 'the same rows are in another order';
  const rows = countOf(count, 'row');
  return isInPrice ? `the price of ${rows} has changed` : `${rows} ${count === 1 ? 'differs' : 'differ'}`;
}

async function sumOf(bytes: AsyncIterable<Uint8Array>): Promise<string> {
  const sum = createHash('sha256');
  for await (const chunk of bytes) sum.update(chunk);
  return sum.digest('hex');
}

async function hasSameRows(plan: SavedPlan, { items, prices }: StartByPlan): Promise<boolean> {
  const planned = plan.rows();
  try {
    for await (const item of items()) {
      const { done, value } = await planned.next();
      const now = plannedRow(item, prices);
      if (done === true || value.id !== now.id || value.hash !== now.hash || value.price !== now.price)
        return false;
    }
    return (await planned.next()).done === true;
  } finally {
    await planned.return();
  }
}

interface StartByPlan {
  /** The manifest's bytes, read from the beginning by each call. */
  readonly bytes: () => AsyncIterable<Uint8Array>;
  /** The rows that are to be done, read from the beginning by each call. */
  readonly items: () => AsyncIterable<ManifestItem>;
  readonly prices: PriceBook;
}

interface PlanDiff {
  /** The first of the changed rows, a line each. */
  readonly lines: readonly string[];
  readonly count: number;
  /** Whether the rows are the same, but some of them have another price. */
  readonly isInPrice: boolean;
  readonly cost: Plan['cost'];
}

const linesShown = 10;

/** Compares row by row, by id. Keeps all rows of the plan in memory, but only for a start that is refused anyway. */
async function diffPlan(plan: SavedPlan, { items, prices }: StartByPlan): Promise<PlanDiff> {
  const before = new Map<string, PlannedRow>();
  for await (const row of plan.rows()) before.set(row.id, row);
  const lines: string[] = [];
  const cost = { estimated: 0, unpriced: 0 };
  let count = 0;
  let isInPrice = true;
  const note = (row: PlannedRow, what: string | undefined): void => {
    if (what === undefined) return;
    if (++count <= linesShown) lines.push(`row ${row.row} (id "${plainText(row.id, 60)}") ${what}`);
  };
  for await (const item of items()) {
    const row = plannedRow(item, prices);
    addPrice(cost, row.price);
    const planned = before.get(row.id);
    isInPrice &&= planned?.hash === row.hash;
    note(row, changeOf(planned, row));
    before.delete(row.id);
  }
  for (const row of before.values()) note(row, 'is gone');
  return { lines, count, isInPrice: isInPrice && before.size === 0, cost };
}

function changeOf(before: PlannedRow | undefined, now: PlannedRow): string | undefined {
  if (before === undefined) return 'is new';
  const isPriced = before.price !== now.price;
  const price = isPriced ? `costs ${rowPriceText(now)}, was ${rowPriceText(before)}` : undefined;
  if (before.hash === now.hash) return price;
  if (now.hash === '') return 'is invalid now';
  const what = before.hash === '' ? 'was invalid, and is sent now' : 'has changed';
  return price === undefined ? what : `${what} and ${price}`;
}

function rowPriceText({ price }: PlannedRow): string {
  return price === null ? 'nobody knows what' : formatMoney(price);
}

/**
 * Takes only rows that are in the plan. A row that differs, because the manifest has changed since the comparison, stops the
 * run and is not sent.
 */
export function withinPlan(plan: SavedPlan, take = takeRows): typeof takeRows {
  return async function* (run: Run): AsyncGenerator<Task, void, void> {
    let planned = plan.rows();
    let priority: number | undefined;
    let isSending = false;
    try {
      for await (const task of take(run)) {
        if (task.what === 'send' && task.row.priority !== priority) {
          await planned.return();
          planned = plan.rows();
          ({ priority } = task.row);
        }
        if (task.what === 'send' && !(await isPlanned(planned, task.row))) {
          const { id, row } = task.row;
          run.stops.stop(stopCauses.manifestChanged(`row ${row} (id "${id}") is not in the plan`, isSending));
          return;
        }
        isSending ||= task.what === 'send';
        yield task;
      }
    } finally {
      await planned.return();
    }
  };
}

/** The plan has the rows of one priority in the manifest's order. */
async function isPlanned(
  planned: PlannedRows,
  { id, hash }: { readonly id: string; readonly hash: string },
): Promise<boolean> {
  for (;;) {
    const { done, value } = await planned.next();
    if (done === true) return false;
    if (value.id === id) return value.hash === hash;
  }
}
