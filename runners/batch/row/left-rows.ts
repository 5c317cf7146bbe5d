import { failedRecord, isBookedPurchase, purchaseFacts, reopenRecord, rowError } from './records-of.js';
import type { IntentRecord, OutcomeRecord } from '../journal/record.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { PendingRow, Recovered, RowRecords } from '../journal/journal.js';
import type { RowState } from '../journal/rows/row-states.js';
import type { Row } from '../manifest/manifest-row.js';
import type { RowRecord } from './record-head.js';
import type { SelectedBy, RowSelection } from '../manifest/rows/row-selection.js';
import { isRead, type Task, type TaskOf } from './task.js';

/** The rules by which a start decides on rows that earlier starts left. */
export interface StartRules {
  /** Failed rows with these codes are sent again or continued. */
  readonly retry: ReadonlySet<FailureCode>;
  /** The rows that this start does. @defaultValue all rows */
  readonly only?: RowSelection | undefined;
  readonly onUnknown: 'hold' | 'retry';
}

/** Whether this start continues a row with this failure, or sends it again. */
export function isRetried(
  status: FailureCode,
  row: SelectedBy,
  { retry, only }: Pick<StartRules, 'retry' | 'only'>,
): boolean {
  return retry.has(status) && only?.has(row) !== false;
}

/** The fields by which `only` selects a row of the journal. */
export function asSelected({ id, intent }: RowRecords): SelectedBy {
  return intent === undefined ? { id } : { id, columns: intent.columns };
}

/**
 * Whether a request that was not answered when the last start ended is sent again by this one. An earlier version of a row that
 * was being redone is not.
 */
export function isDoubled(
  row: Row,
  state: Pick<RowState, 'status' | 'isReplaced'> | undefined,
  { onUnknown, only }: Pick<StartRules, 'onUnknown' | 'only'>,
): boolean {
  const isWanted = onUnknown === 'retry' && only?.has(row) !== false && !isRead(row);
  return state?.status === 'sent' && isWanted && !state.isReplaced(row);
}

/**
 * Whether the job of an `expired` row is polled once more: every start does so, because the service may have been wrong. A row
 * that is bought again, or whose cost was settled by hand, is not polled.
 */
export function isPolledOnceMore(
  { id, intent, jobId, outcome }: RowRecords,
  { retry, only }: Pick<StartRules, 'retry' | 'only'>,
): boolean {
  if (intent === undefined || jobId === undefined || outcome?.source === 'reported') return false;
  return !retry.has('expired') && only?.has({ id, columns: intent.columns }) !== false;
}

/** Whether a request was sent and no answer is known. Also true for a job id that was set by hand and undone. */
export function isUnanswered({ status, jobId }: PendingRow): boolean {
  return status === 'sent' || (status === 'accepted' && jobId === undefined);
}

/** Whether a person may settle the row. One that is `expired` with a known cost was settled already. */
export function isHeld({ status, outcome }: Pick<RowRecords, 'status' | 'outcome'>): boolean {
  return (
    status === 'unknown' || status === 'sent' || (status === 'expired' && outcome?.source !== 'reported')
  );
}

/** Rows that have a reservation: their purchases have not ended. */
export function reservedRows({ pending }: Pick<Recovered, 'pending'>): PendingRow[] {
  return [...pending.values()].filter((row) => row.status !== 'replied' && !isFree(row));
}

/** Whether the row's intent buys nothing. */
export function isFree({ intent }: Pick<PendingRow, 'intent'>): boolean {
  return intent.takes !== undefined || isRead(intent);
}

/** The task for a row that earlier starts left; `undefined` if there is nothing to do, or a person has to decide. */
export function leftTask(known: RowRecords): Task | undefined {
  const { intent, reply, jobId, attempts } = known;
  if (intent === undefined) return undefined;
  if (known.status === 'accepted' && jobId !== undefined) {
    const submittedAt = intent.at;
    const wasExpired = isExpired(jobId, known.outcome);
    return { what: 'poll', row: intent, jobId, intent, submittedAt, attempts, wasExpired };
  }
  if (known.status !== 'replied' || reply === undefined) return undefined;
  const isBooked = isBookedPurchase(known);
  return {
    what: 'fetch',
    row: intent,
    replied: { intent, reply, isBooked, ...(isBooked && { saved: known.outcome }) },
    attempts,
  };
}

/**
 * The records for a request that was not answered before its process ended: it may have been accepted. If `isSentAgain`, the
 * row is reopened for another purchase.
 */
export function recordsOfSent(
  row: Pick<PendingRow, 'id' | 'intent' | 'attempts' | 'price'>,
  at: number,
  isSentAgain: boolean,
): readonly [OutcomeRecord, ...RowRecord[]] {
  const outcome = unknownOutcome(row, at);
  return isSentAgain ? [outcome, reopenRecord({ id: row.id }, { at, why: 'retry', to: 'buy' })] : [outcome];
}

/**
 * The records and the task to continue a row that was to be sent again, although its latest POST did create a job: that
 * purchase becomes the row's latest one again and keeps its attempt number.
 */
export function goingOnWith(
  again: RowRecords & { readonly intent: IntentRecord },
  { jobId, at }: { readonly jobId: string; readonly at: number },
): { readonly records: readonly RowRecord[]; readonly task: TaskOf<'poll'> } {
  const { id, intent, attempts } = again;
  return {
    records: [intent, { k: 'accepted', at, id, jobId }],
    task: { what: 'poll', row: intent, jobId, intent, submittedAt: intent.at, attempts },
  };
}

/** Whether an earlier start gave up this job as `expired`, so that it is polled only once. */
export function isExpired(jobId: string, outcome: OutcomeRecord | undefined): boolean {
  return outcome?.status === 'failed' && outcome.error.code === 'expired' && outcome.jobId === jobId;
}

/** The outcome of a request that was not answered before its start ended. */
export function unknownOutcome(
  { id, intent, attempts, price }: Pick<PendingRow, 'id' | 'intent' | 'attempts' | 'price'>,
  at: number,
): OutcomeRecord {
  const message = `The request was on its way when the run ended, and no answer came: it may have been accepted, so it is not sent again.`;
  const purchase = purchaseFacts(intent, { attempt: attempts, settledAt: at });
  return failedRecord(id, rowError({ code: 'unknown', paid: 'maybe', message }), {
    at,
    cost: price,
    source: 'unknown',
    statusCalls: 0,
    submittedAt: intent.at,
    purchase,
  });
}
