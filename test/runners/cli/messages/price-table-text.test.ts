import { expect, it } from 'vitest';
import { createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../../../runners/batch/ledger/price-list.js';
import { priceTableText } from '../../../../runners/cli/messages/plan-text.js';

it('says the prices in a line, and where they are from', () => {
  const list = toPriceList({ endpoints: { 'up\u001b[2Jscale': { usdPerSecond: 0.0004 } } }, 'prices.json');
  expect(priceTableText(createPriceBook(list).table())).toBe(
    '1k $0.0875, 2k $0.13, 4k $0.175, upscale a second $0.0004 (prices.json)',
  );
});
