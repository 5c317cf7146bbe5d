import type { Purchase } from '../read/read-costs.js';
import type { Charge } from './read-charges.js';

/** The charges that may be those of a purchase in doubt. */
export interface Suspects {
  /** At most the first 50, by their times. */
  readonly charges: readonly Charge[];
  readonly hasMore: boolean;
  /** Whether it may be this charge, also if that is not among `charges`. */
  readonly mayBe: (charge: Charge) => boolean;
}

/** A purchase with more charges is ambiguous, whatever further ones are: with all of them, thousands of rows in doubt have millions. */
const mostCharges = 50;

/** How far a clock or a booking may be off, before and after the run. */
const marginMs = 3_600_000;

/** Finds the charges of a time and a price among those that no purchase has booked. */
export class ChargeSearch {
  /** Charges with a time, by the latest one that each may have. */
  private readonly timed: readonly (Charge & { readonly at: number })[];
  private readonly timeless: readonly Charge[];
  private readonly widestMs: number;

  constructor(charges: readonly Charge[]) {
    this.timed = charges.filter(hasTime).sort((a, b) => latestOf(a) - latestOf(b));
    this.timeless = charges.filter((charge) => !hasTime(charge));
    this.widestMs = charges.reduce((most, { slackMs = 0 }) => Math.max(most, slackMs), 0) + marginMs;
  }

  /**
   * The charges of the purchase's price (or of a similar price, if there is none) that were made between its request and the time
   * when it was given up. A killed run gives it up at its next start, perhaps a day later.
   */
  suspectsOf(purchase: Purchase, sentAt = -Infinity): Suspects {
    const to = Number.isNaN(purchase.at) ? Infinity : purchase.at;
    const isSame = (charge: Charge): boolean =>
      charge.amount === purchase.cost && isWithin(charge, sentAt, to);
    const isLike = (charge: Charge): boolean => isLikePrice(charge, purchase) && isWithin(charge, sentAt, to);
    const same = this.first(sentAt, to, isSame);
    const [found, mayBe] = same.length > 0 ? [same, isSame] : [this.first(sentAt, to, isLike), isLike];
    return { charges: found.slice(0, mostCharges), hasMore: found.length > mostCharges, mayBe };
  }

  /** Up to one more than are kept. */
  private first(from: number, to: number, isWanted: (charge: Charge) => boolean): Charge[] {
    const found: Charge[] = [];
    for (const charge of this.timeless)
      if (isWanted(charge) && found.push(charge) > mostCharges) return found;
    for (let place = this.placeOf(from); place < this.timed.length; place++) {
      const charge = this.timed[place];
      if (charge === undefined || latestOf(charge) > to + 2 * this.widestMs) break;
      if (isWanted(charge) && found.push(charge) > mostCharges) break;
    }
    return found;
  }

  /** The place of the first charge that may have been made at this time or later. */
  private placeOf(from: number): number {
    let [low, high] = [0, this.timed.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      const charge = this.timed[middle];
      if (charge !== undefined && latestOf(charge) < from) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** At least how many of the purchases may have a charge. 0 is exact, and so is 1 for a charge that one of them names. */
export function claimsOn(held: readonly Suspects[]): (charge: Charge) => number {
  const listed = new Map<Charge, number>();
  for (const { charges } of held)
    for (const charge of charges) listed.set(charge, (listed.get(charge) ?? 0) + 1);
  const crowded = held.filter(({ hasMore }) => hasMore);
  return (charge) => {
    const count = listed.get(charge) ?? 0;
    const isUnlisted = ({ charges, mayBe }: Suspects): boolean => mayBe(charge) && !charges.includes(charge);
    return count < 2 && crowded.some(isUnlisted) ? count + 1 : count;
  };
}

/** Whether a charge can have been made in this time; a charge without a time can. */
export function isWithin({ at, slackMs = 0 }: Charge, from: number, to: number): boolean {
  const margin = marginMs + slackMs;
  return at === undefined || (at >= from - margin && at <= to + margin);
}

function hasTime(charge: Charge): charge is Charge & { readonly at: number } {
  return charge.at !== undefined;
}

function latestOf({ at, slackMs = 0 }: Charge & { readonly at: number }): number {
  return at + marginMs + slackMs;
}

/**
 * Whether a charge may match the price. Prices change, so a somewhat different charge may match, and any charge, but no
 * refund, if no price was known.
 */
function isLikePrice({ amount }: Charge, { cost }: Purchase): boolean {
  return (cost === 0 && amount > 0) || (amount > cost / 2 && amount < cost * 2);
}
