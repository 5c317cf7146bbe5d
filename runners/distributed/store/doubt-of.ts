import { failedRecord, purchaseFacts, rowError } from '../../batch/row/records-of.js';
import type { RowRecord } from './row-record.js';
import type { Ending } from './run-store.js';

const workerIsGone =
  'The worker that sent it is gone, and no answer came: it may have been accepted, so it is not sent again.';

/** The ending of a row that may have been accepted, under an id that is not known. */
export function doubtOf(
  { brief, attempt, price, submittedAt }: RowRecord,
  at: number,
  message = workerIsGone,
): Ending {
  const outcome = failedRecord(brief.id, rowError({ code: 'unknown', paid: 'maybe', message }), {
    ...{ at, cost: price, source: 'unknown', statusCalls: 0, submittedAt: submittedAt ?? at },
    purchase: purchaseFacts(brief, { attempt, settledAt: at }),
  });
  return { outcome };
}
