import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Priced } from '../../batch/ledger/price-book.js';
import type { Transaction } from './database.js';

/** A price that the service has reported. */
export interface ReportedPrice extends Priced {
  readonly cost: MicroDollars;
}

/** In one order for all, so that no two transactions wait for each other. */
export async function savePrices(
  on: Transaction,
  run: number,
  prices: readonly ReportedPrice[],
): Promise<void> {
  const highest = new Map<string, ReportedPrice>();
  for (const price of prices) {
    const key = JSON.stringify([price.kind, price.endpoint, price.resolution ?? '']);
    if (price.cost > (highest.get(key)?.cost ?? -1)) highest.set(key, price);
  }
  for (const [, { kind, endpoint, resolution = '', cost }] of [...highest].sort())
    await on.query(
      `insert into millrace.prices (run, kind, endpoint, resolution, highest) values ($1, $2, $3, $4, $5)
       on conflict (run, kind, endpoint, resolution) do update set highest = excluded.highest
         where prices.highest < excluded.highest`,
      [run, kind, endpoint, resolution, cost],
    );
}
