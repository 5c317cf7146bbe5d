import { toUsd, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import { pricedOf } from './records-of.js';
import type { Run } from './run.js';
import type { RowFacts } from './task.js';

/** Tells the price book of a reported price, and people of one that is not the book's: once for each kind of purchase. */
export function notePrice(
  { prices, events }: Pick<Run, 'prices' | 'events'>,
  row: RowFacts,
  reported: MicroDollars,
): void {
  const seen = prices.observe(pricedOf(row), reported);
  if (seen === 'as-expected' || !seen.first) return;
  const what = [row.endpoint, row.resolution].filter(Boolean).join(' at ');
  const message = `The service charges $${toUsd(reported)} for ${what || row.kind}, and $${toUsd(seen.expected)} was reckoned with. The higher one is reserved from now on.`;
  events.next({ type: 'warning', code: 'price', message });
}
