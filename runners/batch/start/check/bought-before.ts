import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import type { Journal } from '../../journal/journal.js';
import { contentBits } from '../../journal/rows/row-states.js';
import { SameTally, type SameRows } from '../../manifest/duplicates/same-requests.js';
import { isRead, type Row } from '../../manifest/manifest-row.js';
import type { KnownIds } from '../../tasks/known-ids.js';
import { mayBePaid } from '../../row/row-status.js';

/**
 * The rows to be sent that ask for exactly what an earlier row of the run asked for that was or may have been paid and is in the
 * manifest no more: the row has another id, by other axes or another name. Contents are compared by 32 bits first; only where some
 * agree are the whole hashes read from the journal.
 *
 * @param ids those of a reading of the manifest
 * @param start `toSend` reads the rows that it sends
 */
export async function boughtBefore(
  journal: Pick<Journal, 'recovered' | 'records'> | undefined,
  ids: Pick<KnownIds, 'isSeen'>,
  start: {
    readonly ahead: { readonly gone: number; readonly toSend: number };
    readonly toSend: () => AsyncIterable<Row>;
    readonly priceOf: (row: Row) => MicroDollars | null;
  },
): Promise<SameRows | undefined> {
  const { ahead, toSend, priceOf } = start;
  if (journal === undefined || ahead.gone === 0 || ahead.toSend === 0) return undefined;
  const { rows } = journal.recovered;
  const bits = new Set<number>();
  for (const [index, { status, content }] of rows.contents())
    if (!ids.isSeen(index) && content !== 0 && mayBePaid(status)) bits.add(content);
  const isLike = (row: Row): boolean =>
    bits.has(contentBits(row.hash)) && !isRead(row) && (row.product?.repeat ?? 1) === 1;
  const like = new Set<string>();
  if (bits.size > 0) for await (const row of toSend()) if (isLike(row)) like.add(row.hash);
  if (like.size === 0) return undefined;
  const bought = new Set<string>();
  for await (const record of journal.records())
    if (record.k === 'intent' && like.has(record.hash) && !ids.isSeen(rows.indexOf(record.id)))
      bought.add(record.hash);
  if (bought.size === 0) return undefined;
  const tally = new SameTally();
  for await (const row of toSend()) if (isLike(row) && bought.has(row.hash)) tally.add(row, 0, priceOf(row));
  return tally.result();
}
