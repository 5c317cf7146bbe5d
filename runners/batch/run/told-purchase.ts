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

/** Whether the purchase of a row that is polled once more stands there as unknown: an earlier start gave up on it. */
export function isHeldPurchase({ outcome, attempts }: Pick<RowRecords, 'outcome' | 'attempts'>): boolean {
  return outcome?.source === 'unknown' && outcome.purchase?.attempt === attempts;
}
