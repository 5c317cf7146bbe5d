import type { Journal } from '../../batch/journal/journal.js';
import type { EndedRow } from '../store/run-store.js';

/**
 * Whether the journal has the purchase's intent, and goes on with it: its job was polled once more, or a dying collector
 * copied it without the ending. A second intent would count as a second purchase.
 */
export async function hasIntent(
  journal: Pick<Journal, 'find' | 'recovered'>,
  { id, attempts }: Pick<EndedRow, 'id' | 'attempts'>,
): Promise<boolean> {
  const status = journal.recovered.rows.get(id)?.status;
  if (status === undefined || status === 'open') return false;
  return (await journal.find(id))?.intent?.attempt === attempts;
}
