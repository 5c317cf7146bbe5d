import { concatMap, defer, EMPTY, ignoreElements, merge, tap, type Observable } from 'rxjs';
import type { IntentRecord, JournalRecord } from '../../batch/journal/record.js';
import { endRow, noteDiskFault } from '../../batch/end/end-row.js';
import { notePrice } from '../../batch/purchase/note-price.js';
import { intentRecord } from '../../batch/row/records-of.js';
import { reopenRecord } from '../../batch/row/reopen-record.js';
import type { Run } from '../../batch/context/run.js';
import type { SettledRow } from '../../batch/row/settled-row.js';
import type { EndedRow } from '../store/run-store.js';

type Unsaved = Omit<SettledRow, 'free'>;

export interface CopiedRow extends EndedRow {
  /** The journal has its intent already. */
  readonly isIntended: boolean;
}

/**
 * Journals a row's ending from the database as if it had ended here: intent, id, reply and outcome in one group, then its
 * lines. A row whose picture no worker has saved goes to `save`.
 */
export function keepEnding(run: Run, row: CopiedRow, save: (unsaved: Unsaved) => void): Observable<unknown> {
  if (row.isDouble) return keepDouble(run, row);
  return row.ending.outcome === undefined ? keepReply(run, row, save) : keepOutcome(run, row);
}

function keepOutcome(run: Run, row: CopiedRow): Observable<unknown> {
  const { reply, outcome } = row.ending;
  if (outcome === undefined) return EMPTY;
  const intent = intentOf(row);
  const before = recordsBefore(row, intent);
  return endRow(run, { intent, reply, outcome, before, row: row.facts.row }).pipe(
    tap({ complete: () => noteReportedPrice(run, row) }),
  );
}

function keepReply(run: Run, row: CopiedRow, save: (unsaved: Unsaved) => void): Observable<unknown> {
  const { reply } = row.ending;
  const intent = intentOf(row);
  if (reply === undefined || intent === undefined) return EMPTY;
  const { facts, attempts } = row;
  return append(run, recordsBefore(row, intent)).pipe(
    ignoreElements(),
    tap({
      complete: () => {
        noteReportedPrice(run, row);
        save({ row: facts, intent, reply, attempts, told: false });
      },
    }),
  );
}

/** The purchase ends as unknown; the row was sent again, and ends later. */
function keepDouble(run: Run, row: CopiedRow): Observable<unknown> {
  const { outcome } = row.ending;
  if (outcome === undefined) return EMPTY;
  const { at, id } = outcome;
  const intent = intentOf(row);
  const written = run.journal
    .append(outcome)
    .pipe(
      concatMap((record) =>
        run.projections
          .writeCost({ intent, outcome }, record)
          .catch((error: unknown) => noteDiskFault(run, error)),
      ),
    );
  return defer(() =>
    merge(
      append(run, recordsBefore(row, intent)),
      written,
      run.journal.append(reopenRecord({ id, outcome }, { at, why: 'retry', to: 'buy' })),
    ),
  ).pipe(
    tap({
      complete: () => {
        const message = `Row "${id}" is sent again, though it may have been accepted: it may be paid twice.`;
        run.events.next({ type: 'warning', code: 'double', message });
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

function recordsBefore(
  { id, jobId, isIntended, ending: { reply } }: CopiedRow,
  intent: IntentRecord | undefined,
): JournalRecord[] {
  const records: JournalRecord[] = [];
  if (intent !== undefined && !isIntended) records.push(intent);
  if (intent !== undefined && jobId !== undefined) records.push({ k: 'accepted', at: intent.at, id, jobId });
  if (reply !== undefined) records.push(reply);
  return records;
}

function append(run: Run, records: readonly JournalRecord[]): Observable<unknown> {
  return defer(() => merge(...records.map((record) => run.journal.append(record))));
}

function noteReportedPrice(run: Run, { facts, ending }: EndedRow): void {
  const paid = ending.outcome ?? ending.reply;
  if (paid.source === 'reported' && paid.cost !== null) notePrice(run, facts, paid.cost);
}
