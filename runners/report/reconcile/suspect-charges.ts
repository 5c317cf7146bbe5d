import type { Charge } from './read-charges.js';
import type { Purchase } from '../read/read-costs.js';

const nearMs = 3_600_000;

/** For each purchase in doubt the charge of its job; else the unbooked charges that could be it: same price, within an hour. */
export function suspectCharges(
  inDoubt: readonly Purchase[],
  chargeOf: ReadonlyMap<string, Charge>,
  unbooked: readonly Charge[],
): { purchase: Purchase; charges: Charge[] }[] {
  const byAmount = new Map<number, Charge[]>();
  for (const charge of unbooked) {
    const alike = byAmount.get(charge.amount);
    if (alike === undefined) byAmount.set(charge.amount, [charge]);
    else alike.push(charge);
  }
  return inDoubt.map((purchase) => {
    const own = chargeOf.get(purchase.jobId);
    if (own !== undefined) return { purchase, charges: [own] };
    const alike = byAmount.get(purchase.cost) ?? [];
    return {
      purchase,
      charges: alike.filter(({ at }) => at === undefined || Math.abs(at - purchase.at) <= nearMs),
    };
  });
}
