import type { Journal } from '../../journal/journal.js';
import type { Ledger } from '../../ledger/ledger.js';
import type { CapInForce } from './cap-in-force.js';
import { isUnanswered, reservedRows } from '../recover-sent.js';
import type { ResolvedOptions } from '../../context/resolve-options.js';

/** What earlier starts reserved stands; what is polled again is reserved instead of held. */
export function ledgerOf(
  options: ResolvedOptions,
  { recovered }: Journal,
  polled: ReadonlyMap<string, number | null>,
  cap: CapInForce | undefined,
): Ledger {
  const { spent, unknown } = recovered.totals;
  const pending = reservedRows(recovered);
  const again = [...polled.values()].reduce<number>((sum, price) => sum + (price ?? 0), 0);
  const ledger = options.ledger({
    spent: spent.reported + spent.estimated,
    unknown: unknown - again,
    reserved: [...pending.map(({ id, price }) => [id, price] as const), ...polled],
    ...(cap && { capUsd: cap.usd }),
  });
  for (const row of pending) if (isUnanswered(row)) ledger.keepUnknown(row.id);
  return ledger;
}
