import { MillraceError } from '../../../src/contract/millrace-error.js';
import { formatMoney, toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowRecords, Journal } from '../journal/journal.js';
import {
  isSettledByHand,
  type JournalRecord,
  type OutcomeRecord,
  type IntentRecord,
  type RecordOf,
} from '../journal/record.js';
import { failedRecord, purchaseFacts, rowError, reopenRecord } from '../row/records-of.js';
import type { RowRecord } from '../row/record-head.js';
import { goingOnWith, unknownOutcome } from '../row/left-rows.js';

export interface Written {
  readonly records: readonly JournalRecord[];
}

/** Records that the request was accepted: the next start polls its job. */
export function polled(row: RowRecords, jobId: string, at: number): Written {
  if (row.intent === undefined)
    throw new MillraceError(
      'usage',
      `what row ${JSON.stringify(row.id)} sent is not known: it cannot be polled`,
    );
  const accepted: JournalRecord = { k: 'accepted', at, id: row.id, jobId };
  if (row.status === 'sent') return { records: [accepted] };
  return { records: [accepted, reopened(row, 'poll', at)] };
}

/**
 * Like `polled`, for a row that was to be sent again: its job is polled instead, and the money held for the earlier
 * request is freed.
 */
export function polledAgain(
  row: RowRecords & { readonly intent: IntentRecord },
  held: HeldAttempt,
  { jobId, at }: { readonly jobId: string; readonly at: number },
): Written {
  const { records } = goingOnWith(row, { jobId, at });
  return { records: [...records, freedRecord(held, { at, cost: undefined })] };
}

/** Records that the request was never sent: the next start sends the row. */
export function toBeSent(row: RowRecords, at: number): Written {
  const { id } = row;
  if (row.status === 'sent') {
    const refused = { k: 'refused', at, id, why: 'settled by hand: it was never sent' } as const;
    return { records: [refused] };
  }
  return { records: [reopened(row, 'buy', at)] };
}

/** Records that the job ran and its result is gone: the row ends as `expired`, with its cost known. */
export function givenUp(row: RowRecords, paidUsd: number, at: number): Written {
  const outcome = paidOutcome(row, paidUsd, at);
  const before = row.status === 'sent' ? [] : [reopened(row, 'poll', at)];
  return { records: [...before, outcome] };
}

function paidOutcome(row: RowRecords, paidUsd: number, at: number): OutcomeRecord {
  const { id, status, intent, attempts, outcome } = row;
  // A job that a person assigned to the row and took back does not belong to it.
  const jobId = status === 'sent' ? row.jobId : (outcome?.purchase?.jobId ?? jobOf(outcome));
  const lost = outcome?.status === 'failed' ? outcome.row : undefined;
  const message = `settled by hand: it was accepted and cost ${formatMoney(toMicroDollars(paidUsd))}, and its result is given up`;
  return failedRecord(id, rowError({ code: 'expired', paid: 'yes', message }), {
    at,
    cost: toMicroDollars(paidUsd),
    source: 'reported',
    statusCalls: 0,
    jobId,
    ...(intent && { submittedAt: intent.at }),
    purchase: purchaseFacts(intent ?? lost ?? nowhere, { attempt: attempts, jobId, settledAt: at }),
    ...(intent === undefined && lost && { row: lost }),
  });
}

function jobOf(outcome: OutcomeRecord | undefined): string | undefined {
  return outcome?.status === 'failed' ? outcome.jobId : undefined;
}

const nowhere = { row: 0, endpoint: '' };

function reopened(row: RowRecords, to: 'poll' | 'buy', at: number): JournalRecord {
  return reopenRecord(row, { at, why: 'settle', to });
}

/**
 * Undoes a settlement by `--not-sent` or `--job` that no start has used yet: the row is held again.
 *
 * @param last The last record of the row.
 * @throws {MillraceError} `usage` if the row was not settled that way, or has continued since
 */
export function undone(row: RowRecords, last: JournalRecord | undefined, at: number): Written {
  const name = `row ${JSON.stringify(row.id)}`;
  if (last?.k === 'outcome' && row.status === 'expired')
    throw usage(`${name}: a recorded cost cannot be taken back`);
  if (last?.k === 'freed')
    throw usage(
      `${name}: what was decided about attempt ${last.attempt} cannot be taken back, because the row is sent or polled anyway`,
    );
  if (last === undefined || !isSettledByHand(last))
    throw usage(`${name} was not settled, or has continued since: nothing can be taken back`);
  const held = heldOutcome(row, at);
  if (held === undefined) throw usage(`${name}: what was held for it is not known any more`);
  return { records: [held] };
}

/** The last records of rows, in one pass over the journal. */
export async function lastRecords(
  journal: Pick<Journal, 'records'>,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, JournalRecord>> {
  const wanted = new Set(ids);
  const last = new Map<string, JournalRecord>();
  for await (const record of journal.records())
    if ('id' in record && wanted.has(record.id)) last.set(record.id, record);
  return last;
}

/** Status calls are set to 0, because they are counted already. */
function heldOutcome({ outcome, intent, attempts, id }: RowRecords, at: number): OutcomeRecord | undefined {
  if (outcome !== undefined && outcome.purchase?.attempt === attempts)
    return { ...outcome, at, statusCalls: 0 };
  return intent && unknownOutcome({ id, intent, attempts, price: intent.price }, at);
}

function usage(problem: string): MillraceError {
  return new MillraceError('usage', problem);
}

/** A purchase that may have been made, of a row that was bought again since. */
export interface HeldAttempt {
  readonly intent: IntentRecord;
  readonly outcome: OutcomeRecord;
  /** Present if a person has decided on it. */
  readonly freed?: RecordOf<'freed'>;
}

/**
 * The purchases of rows that ended as unknown before the rows were bought again, by row and attempt, in one pass over the journal.
 * Each of the rows is in the map.
 */
export async function heldByRow(
  journal: Pick<Journal, 'records'>,
  ids: Iterable<string>,
): Promise<ReadonlyMap<string, ReadonlyMap<number, HeldAttempt>>> {
  const rows = new Map(Array.from(ids, (id) => [id, new HeldOfRow()] as const));
  if (rows.size > 0)
    for await (const record of journal.records()) if ('id' in record) rows.get(record.id)?.take(record);
  return new Map(Array.from(rows, ([id, { held }]) => [id, held] as const));
}

class HeldOfRow {
  readonly held = new Map<number, HeldAttempt>();
  private readonly ended = new Map<number, HeldAttempt>();
  private intent: IntentRecord | undefined;

  take(record: RowRecord): void {
    const { held, ended, intent } = this;
    if (record.k === 'intent') this.intent = record;
    if (record.k === 'outcome' && record.source === 'unknown' && intent !== undefined)
      ended.set(attemptOf(record, intent), { intent, outcome: record });
    if (record.k === 'reopen') {
      // A purchase that is polled again, or was settled, is no longer held.
      if (record.voids === undefined && record.to === 'buy') for (const one of ended) held.set(...one);
      ended.clear();
    }
    const known = record.k === 'freed' ? held.get(record.attempt) : undefined;
    if (record.k === 'freed' && known !== undefined) held.set(record.attempt, { ...known, freed: record });
  }
}

function attemptOf({ purchase }: OutcomeRecord, intent: IntentRecord): number {
  return purchase?.attempt ?? intent.attempt;
}

/** A person's decision on such a purchase: `cost` is in millionths of a dollar, `undefined` if the purchase was never made. */
export function freedRecord(
  { intent, outcome }: HeldAttempt,
  { at, cost }: { readonly at: number; readonly cost: number | undefined },
): RecordOf<'freed'> {
  const { id, row, kind, endpoint, resolution, cells, columns } = intent;
  const attempt = attemptOf(outcome, intent);
  const jobId = outcome.purchase?.jobId;
  return {
    k: 'freed',
    at,
    id,
    row,
    kind,
    endpoint,
    attempt,
    price: outcome.cost,
    ...(resolution !== undefined && { resolution }),
    ...(jobId !== undefined && { jobId }),
    ...(cost === undefined ? { cost: null, source: 'none' } : { cost, source: 'reported' }),
    cells,
    columns,
  };
}
