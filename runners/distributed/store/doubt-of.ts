import { failedRecord, purchaseFacts, rowError } from '../../batch/run/records-of.js';
import type { RowRecord } from './row-record.js';
import type { Ending } from './run-store.js';

/** The ending of a row that was sent by a worker of which nothing has been heard since. */
export function doubtOf({ brief, attempt, price, submittedAt }: RowRecord, at: number): Ending {
  const message =
    'The worker that sent it is gone, and no answer came: it may have been accepted, so it is not sent again.';
  const outcome = failedRecord(brief.id, rowError({ code: 'unknown', paid: 'maybe', message }), {
    ...{ at, cost: price, source: 'unknown', statusCalls: 0, submittedAt: submittedAt ?? at },
    purchase: purchaseFacts(brief, { attempt, settledAt: at }),
  });
  return { outcome };
}
