import { toUsd, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { pricedOf, type Cost } from '../row/records-of.js';
import type { Run } from '../context/run.js';
import { stopCauses } from '../stop/stop-causes.js';
import type { StopCause } from '../stop/stops.js';
import type { RowFacts } from '../row/task.js';

/** Tells the price book of a reported price, and people of one that is not the book's: once for each kind of purchase. */
export function notePrice(
  { prices, events, stops, options }: Pick<Run, 'prices' | 'events' | 'stops' | 'options'>,
  row: RowFacts,
  reported: MicroDollars,
): void {
  const seen = prices.observe(pricedOf(row), reported);
  if (seen === 'as-expected') return;
  const { maxPriceDriftPercent } = options;
  if (isBeyond(seen.drift, maxPriceDriftPercent))
    stops.stop(stopCauses.priceDrifted(purchaseName(row), seen.drift, maxPriceDriftPercent));
  if (!seen.first) return;
  const message = `The service charges $${toUsd(reported)} for ${purchaseName(row)}, and $${toUsd(seen.expected)} was reckoned with. The higher one is reserved from now on.`;
  events.next({ type: 'warning', code: 'price', message });
}

/** Why a run stops after a cost that is not believed: what the service really charges is not known then. */
export function whyDisbelieved(
  row: Pick<RowFacts, 'id' | 'kind' | 'endpoint' | 'resolution'>,
  { cost, disbelieved }: Pick<Cost, 'cost' | 'disbelieved'>,
): StopCause | undefined {
  if (disbelieved === undefined) return undefined;
  return stopCauses.costDisbelieved(row.id, purchaseName(row), { cost, disbelieved });
}

/** Whether a price has drifted further than is allowed; what binary fractions add does not count. */
export function isBeyond(drift: number, limitPercent: number | undefined): limitPercent is number {
  return limitPercent !== undefined && drift * 100 - limitPercent > 1e-6;
}

/** What a price is a price of, for people. */
export function purchaseName({
  endpoint,
  resolution,
  kind,
}: Pick<RowFacts, 'kind' | 'endpoint' | 'resolution'>): string {
  return [endpoint, resolution].filter(Boolean).join(' at ') || kind;
}
