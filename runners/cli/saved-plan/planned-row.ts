import type { PriceBook } from '../../batch/ledger/price-book.js';
import { isBought, type ManifestItem } from '../../batch/manifest/manifest-row.js';
import type { PlannedRow } from './saved-plan.js';

/** What a plan holds a row to. */
export function plannedRow({ valid, row }: ManifestItem, prices: PriceBook): PlannedRow {
  if (!valid) return { id: row.key, row: row.row, hash: '', price: 0 };
  return { id: row.id, row: row.row, hash: row.hash, price: isBought(row) ? prices.priceOf(row) : 0 };
}
