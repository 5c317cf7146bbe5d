import type { Journal } from '../../journal/journal.js';
import type { DayLedger } from '../../ledger/day-ledger.js';

/**
 * Ends the reservations in the shared ledger that earlier starts of this run left and that the journal knows the end of.
 * What may have been bought stays.
 */
export async function reconcileDay(
  shared: DayLedger,
  journal: Pick<Journal, 'recovered' | 'find'>,
): Promise<void> {
  const { recovered } = journal;
  for (const { id } of await shared.outstanding()) {
    const status = recovered.rows.get(id)?.status ?? 'open';
    if (status === 'sent' || status === 'accepted') continue;
    if (status === 'open') {
      await shared.release(id);
      continue;
    }
    const found = await journal.find(id);
    // Bought more than once: which of its purchases this is cannot be told.
    if (found === undefined || found.attempts > 1) continue;
    const end = status === 'replied' ? found.reply : found.outcome;
    if (end === undefined || end.source === 'unknown' || end.cost === null) continue;
    await shared.settle(id, end.cost);
  }
}
