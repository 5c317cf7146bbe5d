import type { MicroDollars } from '../../../src/contract/micro-dollars.js';

/** Prices of edits by label, as in summary.json: `1k` at any endpoint, `mine at 1k` at one that has another price. */
export type EditPrices = Readonly<Record<string, MicroDollars>>;

/** @param endpoint empty if it is not known */
export function editLabel(endpoint: string, resolution: string): string {
  return endpoint === '' ? resolution : `${endpoint} at ${resolution}`;
}

/** The price of an edit by its label: that of its endpoint, or else of any. */
export function editPrice(prices: EditPrices, label: string): MicroDollars | undefined {
  return prices[label] ?? prices[label.slice(label.lastIndexOf(' ') + 1)];
}

/** The prices that the next start reserves: a higher price that the service has reported replaces the listed one. */
export function reservedPrices(listed: EditPrices, reported: EditPrices): EditPrices {
  const prices = { ...listed };
  for (const [label, price] of Object.entries(reported))
    prices[label] = Math.max(price, editPrice(listed, label) ?? 0);
  return prices;
}
