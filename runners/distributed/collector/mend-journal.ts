import { lastValueFrom, merge } from 'rxjs';
import type { Journal } from '../../batch/journal/journal.js';
import type { JournalRecord } from '../../batch/journal/record.js';

/**
 * Takes back the intents that a dying collector copied without the endings that belong to them: the database knows those
 * rows, and they are collected once more. Returns whether the journal is to be read again.
 *
 * @param known tells which of the rows the database has
 */
export async function mendJournal(
  journal: Journal,
  known: (ids: readonly string[]) => Promise<ReadonlySet<string>>,
  now: () => number,
): Promise<boolean> {
  const torn = [...journal.recovered.pending.values()]
    .filter(({ status }) => status === 'sent')
    .map(({ id }) => id);
  if (torn.length === 0) return false;
  const inDatabase = await known(torn);
  const why = 'copied from the database without its ending; it is copied again';
  const records = torn
    .filter((id) => inDatabase.has(id))
    .map((id): JournalRecord => ({ k: 'refused', at: now(), id, why }));
  if (records.length === 0) return false;
  await lastValueFrom(merge(...records.map((record) => journal.append(record))));
  return true;
}
