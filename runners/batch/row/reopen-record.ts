import type { RecordOf } from '../journal/record.js';
import type { RowRecords } from '../journal/journal.js';

/** A row that had ended is taken up again. What was held for it stays in costs.csv only where it may be paid twice now. */
export function reopenRecord(
  { id, outcome }: Pick<RowRecords, 'id' | 'outcome'>,
  { at, why, to }: Pick<RecordOf<'reopen'>, 'at' | 'why' | 'to'>,
): RecordOf<'reopen'> {
  const held = outcome?.source === 'unknown' ? outcome.purchase?.attempt : undefined;
  const isVoid = held !== undefined && (to === 'poll' || why === 'settle');
  return { k: 'reopen', at, id, why, to, ...(isVoid && { voids: held }) };
}
