import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import { listPrices } from '../../batch/ledger/list-prices.js';
import type { PriceTable } from '../../batch/ledger/price-book.js';
import { formatMoney } from './amounts.js';
import { plainText } from './plain-text.js';

/** The prices that a run goes by, in a line, and where they are from. */
export function priceTableText(table: PriceTable): string {
  const { name, prices } = listPrices(table);
  const listed = Object.entries(prices).map(
    ([label, usd]) => `${plainText(label, 80)} ${formatMoney(toMicroDollars(usd))}`,
  );
  return `${listed.join(', ')} (${plainText(name, 80)})`;
}
