import {
  toMicroDollars,
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

/** What a purchase cost, and where the figure is from. */
export interface Cost {
  readonly cost: MicroDollars | null;
  readonly source: CostSource;
  /** The cost that the service reported and that is not believed, as text: the estimate is booked in its place. */
  readonly disbelieved?: string;
}

/** Of a row that completed. What was bought elsewhere, and what buys nothing, has a cost and no source. */
export function costOfCompleted(
  purchase: RowPurchase,
  { output, executionTimeMs }: Pick<Completed<unknown>, 'output' | 'executionTimeMs'>,
  prices: PriceBook,
): Cost {
  if (buysNothing(purchase)) return { cost: reportedCost(output), source: 'none' };
  const reserved = purchase.intent?.price ?? null;
  const estimate = prices.estimate(purchase.facts, executionTimeMs);
  // The time that it is made from is reported as well.
  const booked = estimate === null || isBelievable(estimate, null) ? estimate : reserved;
  return costReported(output, reserved, booked) ?? { cost: booked, source: 'estimated' };
}

/** Of a row that failed: what may have been bought is held at its price, and what was not costs nothing. */
export function costOfFailed(purchase: RowPurchase, { paid, output }: Pick<Failed, 'paid' | 'output'>): Cost {
  if (buysNothing(purchase)) return { cost: null, source: 'none' };
  const reserved = purchase.intent?.price ?? null;
  const unreported: Cost =
    paid === 'no' ? { cost: 0, source: 'estimated' } : { cost: reserved, source: 'unknown' };
  return costReported(output, reserved, reserved) ?? unreported;
}

/** What an output reports; the estimate where that is not believed. `undefined`: it reports nothing. */
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
