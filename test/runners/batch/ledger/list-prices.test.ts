import { expect, it } from 'vitest';
import { assumePrice, listPrices, createPriceBook } from '../../../../runners/batch/ledger/price-book.js';
import { toPriceList } from '../../../../runners/batch/ledger/price-list.js';

it('lists the published prices', () => {
  expect(listPrices(createPriceBook().table())).toEqual({
    name: 'published',
    prices: { '1k': 0.0875, '2k': 0.13, '4k': 0.175 },
    reported: {},
    reserved: {},
  });
});

it('lists what a file adds, what is assumed, and what was reported and is another', () => {
  const file = {
    endpoints: {
      mine: { usdPerPicture: { '1k': 0.01 } },
      upscale: { usdPerSecond: 0.0004 },
      grind: { usdPerJob: 0.05 },
    },
    route: 0.001,
  };
  const book = assumePrice(createPriceBook(toPriceList(file, 'prices.json')), 20_000);
  book.observe({ kind: 'edit', endpoint: 'mine' }, 12_000);
  book.observe({ kind: 'job', endpoint: 'grind' }, 60_000);
  book.observe({ kind: 'route', endpoint: '' }, 1_000);
  book.observe({ kind: 'job', endpoint: 'new' }, 30_000);
  book.observe({ kind: 'edit', endpoint: 'cheap' }, 10_000);
  expect(listPrices(book.table())).toEqual({
    name: 'prices.json',
    prices: {
      '1k': 0.0875,
      '2k': 0.13,
      '4k': 0.175,
      'mine at 1k': 0.01,
      'upscale a second': 0.0004,
      'grind a job': 0.05,
      'a route call': 0.001,
      assumed: 0.02,
    },
    reported: { 'mine at 1k': 0.012, 'grind a job': 0.06, 'cheap at 1k': 0.01 },
    reserved: { 'mine at 1k': 0.012, 'grind a job': 0.06, 'new a job': 0.03 },
  });
});
