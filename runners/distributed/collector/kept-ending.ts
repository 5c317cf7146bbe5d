import type { Journal } from '../../batch/journal/journal.js';
import type { Ending } from '../records/row-record.js';
import type { EndedRow } from '../store/run-store.js';

type Known = Pick<Journal, 'find' | 'recovered'>;

/**
 * Whether an earlier start has journalled this ending of the database. Its records were copied word for word, times included.
 */
export async function isKept(journal: Known, id: string, { reply, outcome }: Ending): Promise<boolean> {
  if (journal.recovered.rows.get(id) === undefined) return false;
  const found = await journal.find(id);
  if (found === undefined) return false;
  if (outcome !== undefined && found.outcome?.at === outcome.at && found.outcome.status === outcome.status)
    return true;
  return reply !== undefined && found.reply?.at === reply.at && found.reply.submittedAt === reply.submittedAt;
}

/**
 * Whether the journal has the intent of this purchase: its job was polled once more, or a dying collector copied the intent
 * without the ending. A second intent would count as a second purchase.
 */
export async function hasIntent(
  journal: Pick<Journal, 'find' | 'recovered'>,
  { id, attempts }: Pick<EndedRow, 'id' | 'attempts'>,
): Promise<boolean> {
  const status = journal.recovered.rows.get(id)?.status;
  if (status === undefined || status === 'open') return false;
  return (await journal.find(id))?.intent?.attempt === attempts;
}
