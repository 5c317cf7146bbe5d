import { addPrice, type MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { ManifestItem } from '../manifest-row.js';
import { quoteValue } from '../quote-value.js';
import { CellProblem } from './manifest-fields.js';

/**
 * Priorities go from minus this to this. Few are enough: a manifest is read once for each of its priorities, and single rows
 * can be ordered by the order of lines.
 */
const most = 100;

export function readPriority(cell: unknown, column: string): number | CellProblem {
  const isText = typeof cell === 'string' && /^\s*[-+]?\d{1,9}(?:\.0*)?\s*$/.test(cell);
  const number = isText ? Number(cell) : cell;
  if (typeof number === 'number' && Number.isInteger(number) && Math.abs(number) <= most) return number + 0;
  const advice =
    column === 'priority'
      ? '; if the column is only your own, rename it or say so with --ignore priority'
      : '';
  return new CellProblem(`${quoteValue(cell)} is not a whole number from -${most} to ${most}${advice}`);
}

export interface PlannedPriority {
  readonly priority: number;
  /** Valid rows. */
  readonly rows: number;
  readonly estimated: MicroDollars;
  /** The part of `rows` to be bought at an unknown price. */
  readonly unpriced: number;
}

type Counted = { -readonly [Name in keyof PlannedPriority]: PlannedPriority[Name] };

/** Counts and prices the rows that have a priority other than 0. */
export class PriorityTally {
  readonly #levels = new Map<number, Counted>();

  add(priority: number, price: MicroDollars | null): void {
    const level = this.#levels.get(priority) ?? { priority, rows: 0, estimated: 0, unpriced: 0 };
    this.#levels.set(priority, level);
    level.rows++;
    addPrice(level, price);
  }

  /**
   * The highest priority first. `undefined` if all rows have the same and keep the order of the manifest.
   *
   * @param all the totals of all valid rows
   * @param invalid number of invalid rows; they count as rows without a priority
   */
  result(all: Omit<PlannedPriority, 'priority'>, invalid: number): readonly PlannedPriority[] | undefined {
    const levels = [...this.#levels.values()];
    const others = { priority: 0, ...all };
    for (const { rows, estimated, unpriced } of levels) {
      others.rows -= rows;
      others.estimated -= estimated;
      others.unpriced -= unpriced;
    }
    if (others.rows + invalid > 0) levels.push(others);
    return levels.length < 2 ? undefined : levels.sort((one, other) => other.priority - one.priority);
  }
}

export async function prioritiesOf(
  items: AsyncIterable<ManifestItem>,
): Promise<readonly PlannedPriority[] | undefined> {
  const tally = new PriorityTally();
  const all = { rows: 0, estimated: 0, unpriced: 0 };
  let invalid = 0;
  for await (const { valid, row } of items) {
    if (!valid) invalid++;
    else {
      all.rows++;
      if (row.priority) tally.add(row.priority, 0);
    }
  }
  return tally.result(all, invalid);
}

/**
 * The rows of a manifest by priority; rows of the same priority are in the manifest's order. The manifest is read once for each
 * priority, so no rows are kept in memory.
 *
 * @param priorities the priorities that an earlier pass has found; `undefined` if one pass is enough
 */
export function byPriority(
  priorities: readonly Pick<PlannedPriority, 'priority'>[] | undefined,
  read: () => AsyncIterable<ManifestItem>,
): AsyncIterable<ManifestItem> {
  return priorities === undefined ? read() : levels(priorities, read);
}

async function* levels(
  priorities: readonly Pick<PlannedPriority, 'priority'>[],
  read: () => AsyncIterable<ManifestItem>,
): AsyncGenerator<ManifestItem> {
  for (const { priority } of priorities)
    for await (const item of read()) if ((item.valid ? (item.row.priority ?? 0) : 0) === priority) yield item;
}
