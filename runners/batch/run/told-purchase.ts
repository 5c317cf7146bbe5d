import type { RowRecords } from '../journal/journal.js';

/**
 * Whether the purchase of a row whose picture is missing stands in costs.csv already: its outcome came before, and the
 * row was taken up for the picture alone.
 */
export function isToldPurchase({ intent, outcome }: Pick<RowRecords, 'intent' | 'outcome'>): boolean {
  if (outcome?.purchase === undefined || intent === undefined) return false;
  return outcome.purchase.attempt === intent.attempt && outcome.source !== 'unknown';
}
