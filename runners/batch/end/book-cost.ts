import { toUsd, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { PurchaseContext } from '../context/purchase-context.js';
import { pricedOf, type Cost } from '../row/costs.js';
import type { RowFacts } from '../row/task.js';
import { purchaseName, whyDisbelieved, whyDrifted } from '../stop/stop-causes.js';

/** Books what a row's purchase has cost; what may have been bought is held. A cost that is not believed stops the run. */
export function bookCost(context: PurchaseContext, facts: RowFacts, booked: Cost): void {
  const { money, stops } = context;
  const { cost, source } = booked;
  if (source === 'unknown') money.ledger.keepUnknown(facts.id);
  else if (source !== 'none') money.ledger.settle(facts.id, cost);
  if (source === 'reported' && cost !== null) notePrice(context, facts, cost);
  const cause = whyDisbelieved(facts, booked);
  if (cause !== undefined) stops.stop(cause);
}

/** Reports the money of the run as it stands. */
export function reportMoney({ money, events }: Pick<PurchaseContext, 'money' | 'events'>): void {
  const { reserved, spent, unknown, cap } = money.ledger.snapshot();
  events.next({ type: 'money', reserved, spent, unknown, ...(cap !== undefined && { cap }) });
}

/** Gives a reported price to the price book, and warns of one that is not the book's: once for each kind of purchase. */
export function notePrice(
  { money, events, stops, options }: NotingPrices,
  row: RowFacts,
  reported: MicroDollars,
): void {
  const seen = money.prices.observe(pricedOf(row), reported);
  if (seen === 'as-expected') return;
  const cause = whyDrifted(row, seen.drift, options.maxPriceDriftPercent);
  if (cause !== undefined) stops.stop(cause);
  if (!seen.first) return;
  const message = `The service charges $${toUsd(reported)} for ${purchaseName(row)}, and $${toUsd(seen.expected)} was reckoned with. The higher one is reserved from now on.`;
  events.next({ type: 'warning', code: 'price', message });
}

interface NotingPrices extends Pick<PurchaseContext, 'events' | 'stops'> {
  readonly money: Pick<PurchaseContext['money'], 'prices'>;
  readonly options: Pick<PurchaseContext['options'], 'maxPriceDriftPercent'>;
}
