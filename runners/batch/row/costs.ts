import {
  toMicroDollars,
  toUsd,
  type MicroDollars,
  disbelievedCost,
  isBelievable,
  reportedCostUsd,
} from '../../../src/contract/micro-dollars.js';
import type { Completed, Failed } from '../../../src/contract/outcome.js';
import type { CostSource } from '../journal/record.js';
import type { PriceBook } from '../ledger/price-book.js';
import type { RowPurchase } from './row-in-flight.js';
import { buysNothing } from './task.js';

/** The cost of a purchase, and where it comes from. */
export interface Cost {
  readonly cost: MicroDollars | null;
  readonly source: CostSource;
  /** The reported cost as text, if it is not believable: the estimate is booked instead. */
  readonly disbelieved?: string;
}

/** The cost of a completed row. If it bought nothing or was bought elsewhere, it may have a cost, but the source is `none`. */
export function costOfCompleted(
  purchase: RowPurchase,
  { output, executionTimeMs }: Pick<Completed<unknown>, 'output' | 'executionTimeMs'>,
  prices: PriceBook,
): Cost {
  if (buysNothing(purchase)) return { cost: reportedCost(output), source: 'none' };
  const reserved = purchase.intent?.price ?? null;
  const timed = prices.estimate(purchase.facts, executionTimeMs) ?? reserved;
  // It may follow from an execution time that the service reports, so it may not be believable either.
  const isBelieved = timed === null || isBelievable(timed, reserved);
  const estimate = isBelieved ? timed : reserved;
  const reported = costReported(output, reserved, estimate);
  if (reported !== undefined) return reported;
  return {
    cost: estimate,
    source: 'estimated',
    ...(!isBelieved && { disbelieved: String(toUsd(timed)) }),
  };
}

/** The cost of a failed row. A purchase that may have been made is held at its price; one that was not made costs nothing. */
export function costOfFailed(purchase: RowPurchase, { paid, output }: Pick<Failed, 'paid' | 'output'>): Cost {
  if (buysNothing(purchase)) return { cost: null, source: 'none' };
  const reserved = purchase.intent?.price ?? null;
  const unreported: Cost =
    paid === 'no' ? { cost: 0, source: 'estimated' } : { cost: reserved, source: 'unknown' };
  return costReported(output, reserved, reserved) ?? unreported;
}

/** The cost that an output reports, or the estimate if that is not believable. `undefined` if it reports none. */
function costReported(
  output: unknown,
  reserved: MicroDollars | null,
  estimate: MicroDollars | null,
): Cost | undefined {
  const disbelieved = disbelievedCost(output, Math.max(estimate ?? 0, reserved ?? 0));
  if (disbelieved !== undefined) return { cost: estimate ?? reserved, source: 'estimated', disbelieved };
  const cost = reportedCost(output);
  return cost === null ? undefined : { cost, source: 'reported' };
}

function reportedCost(output: unknown): MicroDollars | null {
  const usd = reportedCostUsd(output);
  return usd === null ? null : toMicroDollars(usd);
}
