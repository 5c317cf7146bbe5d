import type { FailureCode } from '../../../src/contract/failure-code.js';
import type { Completed, Failed } from '../../../src/contract/outcome.js';
import type {
  FailedRowFacts,
  IntentRecord,
  OutcomeRecord,
  PurchaseFacts,
  RecordOf,
  ReplyRecord,
  RowError,
  SavedOutputs,
} from '../journal/record.js';
import { askedHash } from '../manifest/request-hash.js';
import type { RowRecords } from '../journal/journal.js';
import type { Cost } from './costs.js';
import type { RowProgress, RowPurchase } from './row-in-flight.js';
import { buysNothing, isRead, type RowFacts } from './task.js';

/** The fields that an intent adds to the facts of its row. */
export type Intended = Pick<IntentRecord, 'at' | 'attempt' | 'price' | 'takes' | 'jobId'>;

/** @param asked the row's `askedHash`: uploaded pictures have other names in `row` than in the manifest */
export function intentRecord(row: RowFacts, intended: Intended, asked = askedHash(row)): IntentRecord {
  const { id, hash, kind, endpoint, mode, resolution, request, cells, columns } = row;
  const { at, attempt, price, takes, jobId } = intended;
  return {
    k: 'intent',
    at,
    id,
    row: row.row,
    hash,
    ...(asked !== hash && { asked }),
    kind,
    endpoint,
    mode,
    attempt,
    price,
    ...(resolution !== undefined && { resolution }),
    ...(takes && { takes }),
    ...(jobId !== undefined && { jobId }),
    request,
    cells,
    columns,
  };
}

/** The intent of a row's latest purchase, also of one whose job is polled. */
export function intentOfRow(progress: RowProgress): IntentRecord | undefined {
  const { intent, facts, asked, submittedAt: at, attempts: attempt, price } = progress;
  if (intent !== undefined || asked === undefined || at === undefined) return intent;
  return intentRecord(facts, { at, attempt, price }, asked);
}

/** The purchase for costs.csv; empty if nothing was bought. */
export function purchaseOf(purchase: RowPurchase, settledAt: number): { purchase?: PurchaseFacts } {
  if (buysNothing(purchase)) return {};
  const { facts, attempts, jobId } = purchase;
  return { purchase: purchaseFacts(facts, { attempt: attempts, jobId, settledAt }) };
}

/** The purchase of a row whose reply is known. `isBooked`: it is in costs.csv already, and its status calls are counted. */
export function purchaseOfReply(
  intent: IntentRecord,
  reply: ReplyRecord,
  { attempt, isBooked }: { readonly attempt: number; readonly isBooked: boolean },
): { purchase?: PurchaseFacts; statusCalls?: 0 } {
  if (isBooked) return { statusCalls: 0 };
  if (intent.takes !== undefined || isRead(intent)) return {};
  return { purchase: purchaseFacts(intent, { attempt, jobId: reply.jobId, settledAt: reply.at }) };
}

export function purchaseFacts(
  { row, endpoint, resolution }: Pick<RowFacts, 'row' | 'endpoint' | 'resolution'>,
  { attempt, jobId, settledAt }: { attempt: number; jobId?: string | undefined; settledAt: number },
): PurchaseFacts {
  return {
    row,
    attempt,
    endpoint,
    settledAt,
    ...(jobId && { jobId }),
    ...(resolution !== undefined && { resolution }),
  };
}

export function replyRecord(
  { facts, statusCalls, submittedAt }: RowPurchase,
  completed: Completed<unknown>,
  replied: SavedOutputs &
    Cost & { readonly at: number; readonly output: unknown; readonly imageUrl?: string | undefined },
): ReplyRecord {
  const { at, output, cost, source, disbelieved, imageUrl } = replied;
  const { jobId, delayTimeMs, executionTimeMs } = completed;
  return {
    k: 'reply',
    at,
    id: facts.id,
    ...(jobId !== '' && { jobId }),
    cost,
    source,
    ...(disbelieved !== undefined && { disbelieved }),
    ...(delayTimeMs !== undefined && { delayTime: delayTimeMs }),
    ...(executionTimeMs !== undefined && { executionTime: executionTimeMs }),
    ...(imageUrl !== undefined && { imageUrl }),
    statusCalls,
    submittedAt: submittedAt ?? at,
    output: output ?? null,
    ...savedOutputs(replied),
  };
}

export function savedOutputs({ image, files = [] }: SavedOutputs): SavedOutputs {
  return { ...(image && { image }), ...(files.length > 0 && { files }) };
}

/** The outcome of a completed row whose reply is known. */
export function completedRecord(
  reply: ReplyRecord,
  facts: SavedOutputs & { readonly at: number; readonly purchase?: PurchaseFacts; readonly statusCalls?: 0 },
): OutcomeRecord {
  const { id, cost, source, submittedAt } = reply;
  const { at, purchase, statusCalls = reply.statusCalls } = facts;
  return {
    k: 'outcome',
    at,
    id,
    cost,
    source,
    statusCalls,
    submittedAt,
    status: 'completed',
    ...savedOutputs(facts),
    ...(purchase && { purchase }),
  };
}

export function outcomeOfFailed(
  purchase: RowPurchase,
  failed: Failed,
  { at, ...cost }: Cost & { readonly at: number },
): OutcomeRecord {
  const { facts, intent, submittedAt, statusCalls } = purchase;
  const jobId = failed.jobId ?? purchase.jobId;
  // The intent of a read is never in the journal.
  const isWithoutIntent = intent === undefined || isRead(facts);
  return failedRecord(facts.id, rowError(failed), {
    at,
    ...cost,
    jobId,
    submittedAt,
    statusCalls,
    ...purchaseOf({ ...purchase, jobId }, at),
    ...(isWithoutIntent && { row: failedRow(facts) }),
  });
}

export interface FailedFacts extends Cost, SavedOutputs {
  readonly at: number;
  readonly submittedAt?: number | undefined;
  readonly statusCalls: number;
  readonly jobId?: string | undefined;
  readonly imageUrl?: string;
  readonly purchase?: PurchaseFacts;
  /** Present if there is no intent. */
  readonly row?: FailedRowFacts;
}

export function failedRecord(id: string, error: RowError, facts: FailedFacts): OutcomeRecord {
  const { at, cost, source, disbelieved, statusCalls, submittedAt, jobId, imageUrl, purchase, row } = facts;
  return {
    k: 'outcome',
    at,
    id,
    cost,
    source,
    statusCalls,
    ...(disbelieved !== undefined && { disbelieved }),
    ...(submittedAt !== undefined && { submittedAt }),
    status: 'failed',
    ...(jobId && { jobId }),
    ...(imageUrl !== undefined && { imageUrl }),
    ...savedOutputs(facts),
    ...(row && purchase && heldFor(row, purchase)),
    error,
    ...(purchase && { purchase }),
    ...(row && { row }),
  };
}

/** Small fields that name the purchase, from which the next start adds up the row's money: the row has no intent with them. */
function heldFor({ kind, endpoint }: FailedRowFacts, { attempt, resolution }: PurchaseFacts) {
  return { kind, endpoint, ...(attempt > 0 && { attempt }), ...(resolution !== undefined && { resolution }) };
}

/** Failures after which another try of the same row may succeed. */
const retryable: ReadonlySet<FailureCode> = new Set<FailureCode>([
  ...(['job-failed', 'job-cancelled', 'job-timed-out', 'route-failed'] as const),
  ...(['transport', 'malformed-reply', 'deadline', 'download'] as const),
]);

export function rowError({ code, message, detail, httpStatus, paid }: Omit<Failed, 'status'>): RowError {
  return {
    code,
    message,
    ...(detail !== undefined && { detail }),
    ...(httpStatus !== undefined && { httpStatus }),
    retryable: retryable.has(code),
    paid,
  };
}

/** The facts of a row that never had an intent, for the journal. */
export function failedRow({ row, hash, kind, endpoint, cells }: RowFacts): FailedRowFacts {
  return { row, hash, kind, endpoint, cells };
}

/** The record that reopens a row that has ended. A held purchase stays in costs.csv only if the row may now be paid for twice. */
export function reopenRecord(
  { id, outcome }: Pick<RowRecords, 'id' | 'outcome'>,
  { at, why, to }: Pick<RecordOf<'reopen'>, 'at' | 'why' | 'to'>,
): RecordOf<'reopen'> {
  const held = outcome?.source === 'unknown' ? outcome.purchase?.attempt : undefined;
  const isVoid = held !== undefined && (to === 'poll' || why === 'settle');
  return { k: 'reopen', at, id, why, to, ...(isVoid && { voids: held }) };
}

/**
 * Whether the purchase of a row without its picture is in costs.csv already: the same reply has led to an outcome before, and
 * the row was reopened only to fetch the picture.
 */
export function isBookedPurchase({ reply, outcome }: Pick<RowRecords, 'reply' | 'outcome'>): boolean {
  if (reply === undefined || outcome === undefined) return false;
  const isOfReply = outcome.status === 'completed' || outcome.error.code === 'download';
  return isOfReply && outcome.submittedAt === reply.submittedAt;
}
