import type { RowRecords } from '../journal/journal.js';

/**
 * Whether the purchase of a row whose picture is missing stands in costs.csv already: an outcome came of the same reply
 * before, however often, and the row was taken up for the picture alone.
 */
export function isToldPurchase({ reply, outcome }: Pick<RowRecords, 'reply' | 'outcome'>): boolean {
  if (reply === undefined || outcome === undefined) return false;
  const isOfReply = outcome.status === 'completed' || outcome.error.code === 'download';
  return isOfReply && outcome.submittedAt === reply.submittedAt;
}
