import { toUsd } from '../../../src/contract/micro-dollars.js';
import type { Reconciliation } from '../../report/reconcile/reconcile.js';

type Purchase = Reconciliation['onlyInRun'][number];
type Charge = Reconciliation['onlyInStatement'][number];

/** What `reconcile --json` prints: money in USD, times as ISO text. */
export function reconciliationJson(found: Reconciliation): Record<string, unknown> {
  const { totals, matched, differing, onlyInRun, onlyInStatement, held, elsewhere, isEven } = found;
  return {
    isEven,
    totals: {
      booked: toUsd(totals.booked),
      inDoubt: toUsd(totals.inDoubt),
      charged: toUsd(totals.charged),
    },
    matched,
    differing: differing.map(({ purchase, charge }) => ({
      purchase: purchaseJson(purchase),
      charge: chargeJson(charge),
    })),
    onlyInRun: onlyInRun.map(purchaseJson),
    onlyInStatement: onlyInStatement.map(chargeJson),
    held: held.map(({ purchase, charges }) => ({
      purchase: purchaseJson(purchase),
      charges: charges.map(chargeJson),
    })),
    elsewhere: { count: elsewhere.count, amount: toUsd(elsewhere.amount) },
  };
}

function purchaseJson({ cost, at, ...purchase }: Purchase): Record<string, unknown> {
  return { ...purchase, cost: toUsd(cost), ...(!Number.isNaN(at) && { settledAt: isoTime(at) }) };
}

function chargeJson({ amount, at, ...charge }: Charge): Record<string, unknown> {
  return { ...charge, amount: toUsd(amount), ...(at !== undefined && { at: isoTime(at) }) };
}

function isoTime(at: number): string {
  return new Date(at).toISOString();
}
