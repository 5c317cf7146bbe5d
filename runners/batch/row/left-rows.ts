import { failedRecord, isBookedPurchase, purchaseFacts, reopenRecord, rowError } from './records-of.js';
import type { IntentRecord, OutcomeRecord } from '../journal/record.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { PendingRow, Recovered, RowRecords } from '../journal/journal.js';
import type { Row } from '../manifest/manifest-row.js';
import type { RowRecord } from './record-head.js';
import type { RowStatus } from './row-status.js';
import type { SelectedBy, RowSelection } from '../manifest/rows/row-selection.js';
import { isRead, type RowTask, type Task } from './task.js';

/** By which a start decides on rows that earlier starts left. */
export interface StartRules {
  /** Failures that are taken up again. */
  readonly retry: ReadonlySet<FailureCode>;
  /** The rows that this start is for. @defaultValue all rows */
  readonly only?: RowSelection | undefined;
  readonly onUnknown: 'hold' | 'retry';
}

/** Whether a row that failed so is taken up by this start. */
export function isTakenUp(
  status: FailureCode,
  row: SelectedBy,
  { retry, only }: Pick<StartRules, 'retry' | 'only'>,
): boolean {
  return retry.has(status) && only?.has(row) !== false;
}

/** The same by what the journal knows of a row. */
export function asSelected({ id, intent }: RowRecords): SelectedBy {
  return intent === undefined ? { id } : { id, columns: intent.columns };
}

/** Whether a request that was out when the last start ended is sent again by this one. */
export function isDoubled(
  row: Row,
  status: RowStatus | undefined,
  { onUnknown, only }: Pick<StartRules, 'onUnknown' | 'only'>,
): boolean {
  return status === 'sent' && onUnknown === 'retry' && only?.has(row) !== false && !isRead(row);
}

/**
 * Whether a row that ended as `expired` is asked for once more, as each start does: the service may have been wrong. One that is
 * bought again is not, nor one whose cost a person has said.
 */
export function isAskedAgain(
  { id, intent, jobId, outcome }: RowRecords,
  { retry, only }: Pick<StartRules, 'retry' | 'only'>,
): boolean {
  if (intent === undefined || jobId === undefined || outcome?.source === 'reported') return false;
  return !retry.has('expired') && only?.has({ id, columns: intent.columns }) !== false;
}

/** A request was out, and no answer is known. Also an id that was noted by hand and not kept. */
export function isUnanswered({ status, jobId }: PendingRow): boolean {
  return status === 'sent' || (status === 'accepted' && jobId === undefined);
}

/** What is reserved for: rows whose purchases have not come to an end. */
export function reservedRows({ pending }: Pick<Recovered, 'pending'>): PendingRow[] {
  return [...pending.values()].filter((row) => row.status !== 'replied' && !isFree(row));
}

/** Nothing was bought by it. */
export function isFree({ intent }: Pick<PendingRow, 'intent'>): boolean {
  return intent.takes !== undefined || isRead(intent);
}

/** What a row that earlier starts left needs of this one; `undefined`: nothing, or a person has to decide. */
export function leftTask(known: RowRecords): Task | undefined {
  const { intent, reply, jobId, acceptedAt, attempts } = known;
  if (intent === undefined) return undefined;
  if (known.status === 'accepted' && jobId !== undefined) {
    const submittedAt = acceptedAt ?? intent.at;
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
 * The records of a request that was out, without an answer, when its process ended: it may have been accepted. Only
 * where the user prefers it another purchase follows.
 */
export function recordsOfSent(
  row: Pick<PendingRow, 'id' | 'intent' | 'attempts' | 'price'>,
  at: number,
  isSentAgain: boolean,
): readonly [OutcomeRecord, ...RowRecord[]] {
  const outcome = unknownOutcome(row, at);
  return isSentAgain ? [outcome, reopenRecord({ id: row.id }, { at, why: 'retry', to: 'buy' })] : [outcome];
}

/** The latest POST of a row that was to be sent again has made a job after all: it stands for the row once more, under its own number. */
export function goingOnWith(
  again: RowRecords & { readonly intent: IntentRecord },
  { jobId, at }: { readonly jobId: string; readonly at: number },
): { readonly records: readonly RowRecord[]; readonly task: RowTask } {
  const { id, intent, attempts } = again;
  return {
    records: [intent, { k: 'accepted', at, id, jobId }],
    task: { what: 'poll', row: intent, jobId, intent, submittedAt: intent.at, attempts },
  };
}

/** A job that was given up before: it is asked for once more, and not for a minute. */
export function isExpired(jobId: string, outcome: OutcomeRecord | undefined): boolean {
  return outcome?.status === 'failed' && outcome.error.code === 'expired' && outcome.jobId === jobId;
}

/** How a request ends that was out, without an answer, when a start ended. */
export function unknownOutcome(
  { id, intent, attempts, price }: Pick<PendingRow, 'id' | 'intent' | 'attempts' | 'price'>,
  at: number,
): OutcomeRecord {
  const message = `The request was out when the run ended, and no answer came: it may have been accepted, so it is not sent again.`;
  const purchase = purchaseFacts(intent, { attempt: attempts, settledAt: at });
  return failedRecord(id, rowError({ code: 'unknown', paid: 'maybe', message }), {
    ...{ at, cost: price, source: 'unknown', statusCalls: 0, submittedAt: intent.at, purchase },
  });
}
