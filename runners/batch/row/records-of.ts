import { toMicroDollars, type MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { Completed, Failed } from '../../../src/contract/outcome.js';
import { disbelievedCost, isBelievable, reportedCostUsd } from '../../../src/contract/reported-cost.js';
import type {
  CostSource,
  FailedRowFacts,
  IntentRecord,
  OutcomeRecord,
  PurchaseFacts,
  ReplyRecord,
  RowError,
  SavedImage,
} from '../journal/record.js';
import type { PriceBook } from '../ledger/price-book.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';
import { isRead, type RowFacts } from './task.js';
import type { RowRun } from './row-run.js';

/** What an intent adds to the facts of its row. */
export interface Intended {
  readonly at: number;
  readonly attempt: number;
  readonly price: MicroDollars | null;
  readonly takes?: 'job' | 'picture';
  readonly jobId?: string;
}

export function intentRecord(row: RowFacts, intended: Intended): IntentRecord {
  const { id, hash, kind, endpoint, mode, resolution, request, cells, columns } = row;
  const { at, attempt, price, takes, jobId } = intended;
  return {
    ...{ k: 'intent', at, id, row: row.row, hash, kind, endpoint, mode, attempt, price },
    ...(resolution !== undefined && { resolution }),
    ...(takes && { takes }),
    ...(jobId !== undefined && { jobId }),
    ...{ request, cells, columns },
  };
}

/** What a purchase cost, and who says so. */
export interface Cost {
  readonly cost: MicroDollars | null;
  readonly source: CostSource;
  /** The cost that the service reported and that is not believed, as text: the estimate is booked in its place. */
  readonly disbelieved?: string;
}

/** Of a row that completed. What was bought elsewhere, and what buys nothing, has a cost and no source. */
export function costOfCompleted(
  run: RowRun,
  { output, executionTimeMs }: Pick<Completed<unknown>, 'output' | 'executionTimeMs'>,
  prices: PriceBook,
): Cost {
  if (run.takes || isRead(run.row)) return { cost: inMicroDollars(reportedCostUsd(output)), source: 'none' };
  const estimate = prices.estimate(pricedOf(run.row), executionTimeMs);
  // The time that it is made from is reported as well.
  const booked = estimate === null || isBelievable(estimate, null) ? estimate : reservedFor(run);
  return costReported(output, run, booked) ?? { cost: booked, source: 'estimated' };
}

/** Of a row that failed: what may have been bought is held at its price, and what was not costs nothing. */
export function costOfFailed(run: RowRun, { paid, output }: Pick<Failed, 'paid' | 'output'>): Cost {
  if (run.takes || isRead(run.row)) return { cost: null, source: 'none' };
  const reported = costReported(output, run, reservedFor(run));
  if (reported !== undefined) return reported;
  return paid === 'no' ? { cost: 0, source: 'estimated' } : { cost: reservedFor(run), source: 'unknown' };
}

/** What an output reports; the estimate where that is not believed. `undefined`: it reports nothing. */
function costReported(output: unknown, run: RowRun, estimate: MicroDollars | null): Cost | undefined {
  const expected = Math.max(estimate ?? 0, reservedFor(run) ?? 0);
  const disbelieved = disbelievedCost(output, expected);
  if (disbelieved !== undefined)
    return { cost: estimate ?? reservedFor(run), source: 'estimated', disbelieved };
  const cost = inMicroDollars(reportedCostUsd(output));
  return cost === null ? undefined : { cost, source: 'reported' };
}

function reservedFor({ intent }: RowRun): MicroDollars | null {
  return intent?.price ?? null;
}

function inMicroDollars(usd: number | null): MicroDollars | null {
  return usd === null ? null : toMicroDollars(usd);
}

export function pricedOf({ kind, endpoint, resolution }: Pick<RowFacts, 'kind' | 'endpoint' | 'resolution'>) {
  return { kind, endpoint, ...(resolution !== undefined && { resolution }) };
}

/** What costs.csv is to say; nothing where nothing was bought. */
export function purchaseOf(run: RowRun, settledAt: number): { purchase?: PurchaseFacts } {
  if (run.takes || isRead(run.row)) return {};
  return { purchase: purchaseFacts(run.row, { attempt: run.attempts, jobId: run.jobId, settledAt }) };
}

/** The same for a row whose reply is known. `told`: it stands in costs.csv already. */
export function purchaseOfReply(
  intent: IntentRecord,
  reply: ReplyRecord,
  facts: { attempt: number; told: boolean },
): { purchase?: PurchaseFacts } {
  const { attempt, told } = facts;
  if (told || intent.takes !== undefined || isRead(intent)) return {};
  return { purchase: purchaseFacts(intent, { attempt, jobId: reply.jobId, settledAt: reply.at }) };
}

export function purchaseFacts(
  { row, endpoint, resolution }: Pick<RowFacts, 'row' | 'endpoint' | 'resolution'>,
  { attempt, jobId, settledAt }: { attempt: number; jobId?: string | undefined; settledAt: number },
): PurchaseFacts {
  return {
    ...{ row, attempt, endpoint, settledAt },
    ...(jobId && { jobId }),
    ...(resolution !== undefined && { resolution }),
  };
}

export interface Replied extends Cost {
  readonly at: number;
  readonly output: unknown;
  readonly imageUrl?: string | undefined;
  readonly image?: SavedImage | undefined;
}

export function replyRecord(run: RowRun, completed: Completed<unknown>, replied: Replied): ReplyRecord {
  const { at, output, cost, source, disbelieved, imageUrl, image } = replied;
  const { jobId, delayTimeMs, executionTimeMs } = completed;
  return {
    ...{ k: 'reply', at, id: run.id, ...(jobId !== '' && { jobId }), cost, source },
    ...(disbelieved !== undefined && { disbelieved }),
    ...(delayTimeMs !== undefined && { delayTime: delayTimeMs }),
    ...(executionTimeMs !== undefined && { executionTime: executionTimeMs }),
    ...(imageUrl !== undefined && { imageUrl }),
    statusCalls: run.statusCalls(),
    submittedAt: run.submittedAt ?? at,
    output: output ?? null,
    ...(image && { image }),
  };
}

/** The outcome of a row whose reply is known. */
export function completedRecord(
  reply: ReplyRecord,
  facts: { at: number; image?: SavedImage | undefined; purchase?: PurchaseFacts },
): OutcomeRecord {
  const { id, cost, source, statusCalls, submittedAt } = reply;
  const { at, image, purchase } = facts;
  return {
    ...{ k: 'outcome', at, id, cost, source, statusCalls, submittedAt, status: 'completed' },
    ...(image && { image }),
    ...(purchase && { purchase }),
  };
}

export interface FailedFacts extends Cost {
  readonly at: number;
  readonly submittedAt?: number | undefined;
  readonly statusCalls: number;
  readonly jobId?: string | undefined;
  readonly imageUrl?: string;
  readonly purchase?: PurchaseFacts;
  /** Where no intent says it. */
  readonly row?: FailedRowFacts;
}

export function failedRecord(id: string, error: RowError, facts: FailedFacts): OutcomeRecord {
  const { at, cost, source, disbelieved, statusCalls, submittedAt, jobId, imageUrl, purchase, row } = facts;
  return {
    ...{ k: 'outcome', at, id, cost, source, statusCalls },
    ...(disbelieved !== undefined && { disbelieved }),
    ...(submittedAt !== undefined && { submittedAt }),
    status: 'failed',
    ...(jobId && { jobId }),
    ...(imageUrl !== undefined && { imageUrl }),
    ...(row && purchase && heldFor(row, purchase)),
    error,
    ...(purchase && { purchase }),
    ...(row && { row }),
  };
}

/** The next start adds the row's money up from the small fields alone, and no intent of it says what it is for. */
function heldFor({ kind, endpoint }: FailedRowFacts, { attempt, resolution }: PurchaseFacts) {
  return { kind, endpoint, ...(attempt > 0 && { attempt }), ...(resolution !== undefined && { resolution }) };
}

/** Sent again as it is, it may end otherwise. */
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

/** A row that never had an intent, for the journal. */
export function failedRow({ row, hash, kind, endpoint, cells }: RowFacts): FailedRowFacts {
  return { row, hash, kind, endpoint, cells };
}
