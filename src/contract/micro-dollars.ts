import type { Resolution } from './image-edit.js';

/** Money inside millrace: integer millionths of a US dollar. */
export type MicroDollars = number;

/** What rows may cost together. */
export interface ExpectedCost {
  estimated: MicroDollars;
  /** Number of rows of no known price. */
  unpriced: number;
}

/** Adds rows of one price; `null` if it is not known. */
export function addPrice(cost: ExpectedCost, price: MicroDollars | null, rows = 1): void {
  if (price === null) cost.unpriced += rows;
  else cost.estimated += price * rows;
}

/** 0.0875 → 87500. Rounds to the nearest millionth, but nothing above 0 to 0: many rows of a tiny price are not free. */
export function toMicroDollars(usd: number): MicroDollars {
  const nearest = Math.round(usd * 1_000_000);
  return nearest === 0 && usd > 0 ? 1 : nearest;
}

/** 87500 → 0.0875, as in files. */
export function toUsd(microDollars: MicroDollars): number {
  return microDollars / 1_000_000;
}

/** The exact amount for people, with at least two decimals: 87500 → `$0.0875`, 26250000 → `$26.25`, 1234000000 → `$1,234.00`. */
export function formatMoney(microDollars: MicroDollars): string {
  const whole = Math.round(Math.abs(microDollars));
  const dollars = String(Math.trunc(whole / 1_000_000)).replace(/\B(?=(\d{3})+$)/g, ',');
  const digits = String(whole % 1_000_000).padStart(6, '0');
  return `${microDollars < 0 ? '-' : ''}$${dollars}.${digits.replace(/0{1,4}$/, '')}`;
}

/** Published price of one edited picture in millionths of a dollar. A price that the service reports overrides it. (spec 8) */
export const imageEditPrices = { '1k': 87_500, '2k': 130_000, '4k': 175_000 } as const satisfies Record<
  Resolution,
  MicroDollars
>;

/**
 * The largest believable cost of one purchase, in USD, everywhere: on the wire, in the journal, ledgers and files. A larger
 * figure is an error or in another unit.
 */
export const maxPurchaseUsd = 1_000_000;

/** A reported cost above this many times the expected price must be in another unit, such as millionths of a dollar. */
export const maxTimesEstimate = 1_000;

const maxPurchase = toMicroDollars(maxPurchaseUsd);

/**
 * Whether a cost can be booked.
 *
 * @param estimate the expected price; `null`, `NaN` or 0 if not known
 */
export function isBelievable(cost: MicroDollars, estimate: MicroDollars | null): boolean {
  if (!(cost >= 0 && cost <= maxPurchase)) return false;
  return estimate === null || !(estimate > 0) || cost <= estimate * maxTimesEstimate;
}

/** The price in USD that an output reports under `cost`; `null` if it reports none, or one that is not a price (`disbelievedCost`). */
export function reportedCostUsd(output: unknown): number | null {
  const cost = costIn(output);
  return typeof cost === 'number' && isBelievable(toMicroDollars(cost), null) ? cost : null;
}

/**
 * A figure under `cost` that is not believed, as it was written: a negative or infinite number, one above `maxPurchaseUsd` or
 * above `maxTimesEstimate` times the expected price, or a number written as text. If a price is expected, also a number inside
 * an object or array. `undefined` if the cost is believed, or none is reported.
 */
export function disbelievedCost(output: unknown, estimate: MicroDollars | null): string | undefined {
  const cost = costIn(output);
  if (typeof cost === 'string')
    return isFigure(cost) ? JSON.stringify(cost.slice(0, maxTextLength)) : undefined;
  if (typeof cost === 'object' && cost !== null) {
    // A function without a known price may use the name `cost` for anything.
    if (!(Number(estimate) > 0)) return undefined;
    const text = JSON.stringify(cost);
    return /\d/.test(text) ? text.slice(0, maxTextLength) : undefined;
  }
  if (typeof cost !== 'number') return undefined;
  return isBelievable(toMicroDollars(cost), estimate) ? undefined : String(cost);
}

/** Whether the service reports a cost for a job that did not complete. A figure that is not believed counts too. */
export function isCharged(output: unknown): boolean {
  return (reportedCostUsd(output) ?? 0) > 0 || disbelievedCost(output, null) !== undefined;
}

/** Longer text is not kept. */
const maxTextLength = 100;

/** A number, alone or with a currency: `$95.00`, `0,0875 EUR`. */
function isFigure(text: string): boolean {
  if (text.trim() !== '' && !Number.isNaN(Number(text))) return true;
  const amount = text.replace(/[A-Za-z]{2,3}(?![A-Za-z])|\p{Sc}|\s/gu, '');
  return /^[-+]?\d[\d.,']*$/.test(amount);
}

function costIn(output: unknown): unknown {
  return typeof output === 'object' && output !== null && 'cost' in output ? output.cost : undefined;
}
