import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { ManifestItem } from '../manifest-row.js';
import { quoteValue } from '../quote-value.js';
import { CellProblem } from './manifest-fields.js';

/** From minus this to this. A manifest is read once for each priority that occurs in it: an order of single rows is the order of its lines. */
const most = 100;

/** The priority that a cell holds. */
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

/** The rows of one priority. */
export interface PlannedPriority {
  readonly priority: number;
  /** Valid rows. */
  readonly rows: number;
  readonly estimated: MicroDollars;
  /** Rows that will be bought at an unknown price. */
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
    if (price === null) level.unpriced++;
    else level.estimated += price;
  }

  /**
   * The highest first. `undefined`: all rows have the same, and keep the order of the manifest.
   *
   * @param all valid rows of every priority
   * @param invalid how many rows are not valid: they have the priority of a row without one
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

/** Finds out the priorities of a manifest. */
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
 * The rows of a manifest by their priority, those of the same priority in the manifest's order. However many rows there are, none
 * is kept: the manifest is read once for each priority.
 *
 * @param priorities what a reading has found; `undefined`: one reading is enough
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
