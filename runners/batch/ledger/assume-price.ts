import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { PriceBook } from './price-book.js';

/** The same book, that reckons with `assumed` wherever it knows no price: to reserve, and where nothing is reported. */
export function assumePrice(book: PriceBook, assumed: MicroDollars): PriceBook {
  return {
    priceOf: (row) => book.priceOf(row) ?? assumed,
    observe: (row, reported) => book.observe(row, reported),
    driftOf: (row) => book.driftOf(row),
    estimate: (row, executionTimeMs) => book.estimate(row, executionTimeMs) ?? assumed,
    table: () => ({ ...book.table(), assumed }),
  };
}
