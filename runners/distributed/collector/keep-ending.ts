import { tap, type Observable } from 'rxjs';
import type { Run } from '../../batch/context/run.js';
import { notePrice } from '../../batch/end/end-row.js';
import { endRow } from '../../batch/end/end-row.js';
import type { IntentRecord } from '../../batch/journal/record.js';
import type { RowRecord } from '../../batch/row/record-head.js';
import { intentRecord, reopenRecord } from '../../batch/row/records-of.js';
import type { PaidRow } from '../../batch/row/task.js';
import type { EndedRow } from '../store/run-store.js';

type Unsaved = Omit<PaidRow, 'free'>;

export interface CopiedRow extends EndedRow {
  /** The journal has its intent already. */
  readonly isIntended: boolean;
}

/**
 * Journals a row's ending from the database as if it had ended here: intent, id, reply and outcome in one group, then its
 * lines. A row whose picture no worker has saved goes to `save`.
 */
export function keepEnding(run: Run, row: CopiedRow, save: (unsaved: Unsaved) => void): Observable<unknown> {
  const { facts, attempts } = row;
  const { reply, outcome } = row.ending;
  const intent = intentOf(row);
  return endRow(run, { intent, reply, records: recordsOf(row, intent), row: facts.row }).pipe(
    tap({
      complete: () => {
        noteReportedPrice(run, row);
        if (outcome === undefined && intent !== undefined)
          save({ row: facts, intent, reply, attempts, isBooked: false });
      },
    }),
  );
}

/** `undefined`: nothing was ever sent of the row, and it takes no job. */
function intentOf({
  facts,
  attempts,
  price,
  takes,
  jobId,
  submittedAt,
  ending,
}: EndedRow): IntentRecord | undefined {
  if (attempts === 0 && !takes) return undefined;
  const at =
    submittedAt ?? ending.reply?.submittedAt ?? ending.outcome?.submittedAt ?? ending.outcome?.at ?? 0;
  return intentRecord(facts, {
    ...{ at: Math.round(at), attempt: attempts, price: takes ? 0 : price },
    ...(takes && { takes: 'job', ...(jobId !== undefined && { jobId }) }),
  });
}

function recordsOf(
  { id, jobId, isIntended, isDouble, ending: { reply, outcome } }: CopiedRow,
  intent: IntentRecord | undefined,
): RowRecord[] {
  const records: RowRecord[] = [];
  if (intent !== undefined && !isIntended) records.push(intent);
  if (intent !== undefined && jobId !== undefined) records.push({ k: 'accepted', at: intent.at, id, jobId });
  if (reply !== undefined) records.push(reply);
  if (outcome === undefined) return records;
  records.push(outcome);
  // The purchase ends as unknown; the row was sent again, and ends later.
  if (isDouble) records.push(reopenRecord({ id, outcome }, { at: outcome.at, why: 'retry', to: 'buy' }));
  return records;
}

function noteReportedPrice(run: Run, { facts, ending }: EndedRow): void {
  const paid = ending.outcome ?? ending.reply;
  if (paid.source === 'reported' && paid.cost !== null) notePrice(run, facts, paid.cost);
}
