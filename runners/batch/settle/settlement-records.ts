import { MillraceError } from '../../../src/contract/millrace-error.js';
import { toMicroDollars } from '../../../src/contract/micro-dollars.js';
import type { RowRecords, Journal } from '../journal/journal.js';
import { isSettledByHand, type JournalRecord, type OutcomeRecord } from '../journal/record.js';
import { failedRecord, purchaseFacts, rowError, reopenRecord } from '../row/records-of.js';
import { unknownOutcome } from '../row/left-rows.js';

/** What a settlement writes. */
export interface Written {
  readonly records: readonly JournalRecord[];
  /** By how many rows more are to be done then. */
  readonly toDo: -1 | 0 | 1;
}

/** It was accepted: its job is polled by the next start. */
export function polled(row: RowRecords, jobId: string, at: number): Written {
  if (row.intent === undefined)
    throw new MillraceError(
      'usage',
      `what row ${JSON.stringify(row.id)} sent is not known: it cannot be polled`,
    );
  const accepted: JournalRecord = { k: 'accepted', at, id: row.id, jobId };
  if (row.status === 'sent') return { records: [accepted], toDo: 0 };
  return { records: [accepted, reopened(row, 'poll', at)], toDo: 1 };
}

/** It was never sent: the next start sends it. */
export function toBeSent(row: RowRecords, at: number): Written {
  const { id } = row;
  if (row.status === 'sent') {
    const refused = { k: 'refused', at, id, why: 'settled by hand: it was never sent' } as const;
    return { records: [refused], toDo: 0 };
  }
  return { records: [reopened(row, 'buy', at)], toDo: 1 };
}

/** It ran, and its result is gone: `expired`, with its cost known. */
export function givenUp(row: RowRecords, paidUsd: number, at: number): Written {
  const outcome = paidOutcome(row, paidUsd, at);
  const before = row.status === 'sent' ? [] : [reopened(row, 'poll', at)];
  return { records: [...before, outcome], toDo: row.status === 'sent' ? -1 : 0 };
}

function paidOutcome(
  { id, intent, attempts, jobId, outcome }: RowRecords,
  paidUsd: number,
  at: number,
): OutcomeRecord {
  const lost = outcome?.status === 'failed' ? outcome.row : undefined;
  const message = `settled by hand: it was accepted and cost $${paidUsd}, and its result is given up`;
  return failedRecord(id, rowError({ code: 'expired', paid: 'yes', message }), {
    ...{ at, cost: toMicroDollars(paidUsd), source: 'reported', statusCalls: 0, jobId },
    ...(intent && { submittedAt: intent.at }),
    purchase: purchaseFacts(intent ?? lost ?? nowhere, { attempt: attempts, jobId, settledAt: at }),
    ...(intent === undefined && lost && { row: lost }),
  });
}

const nowhere = { row: 0, endpoint: '' };

function reopened(row: RowRecords, to: 'poll' | 'buy', at: number): JournalRecord {
  return reopenRecord(row, { at, why: 'settle', to });
}

/**
 * A settlement by `--not-sent` or `--job` that no start has acted on is taken back: the row is held again as it was.
 *
 * @throws {MillraceError} `usage` where the row was not settled so, or has gone on since
 */
export async function undone(
  journal: Pick<Journal, 'records'>,
  row: RowRecords,
  at: number,
): Promise<Written> {
  const name = `row ${JSON.stringify(row.id)}`;
  const last = await lastRecord(journal, row.id);
  if (last?.k === 'outcome' && row.status === 'expired')
    throw usage(`${name}: a cost that was written down stays written down, and cannot be taken back`);
  if (last === undefined || !isSettledByHand(last))
    throw usage(`${name} was not settled, or has gone on since: nothing can be taken back`);
  const held = heldOutcome(row, at);
  if (held === undefined) throw usage(`${name}: what was held for it is not known any more`);
  return { records: [held], toDo: -1 };
}

async function lastRecord(journal: Pick<Journal, 'records'>, id: string): Promise<JournalRecord | undefined> {
  let last: JournalRecord | undefined;
  for await (const record of journal.records()) if ('id' in record && record.id === id) last = record;
  return last;
}

/** Its status calls are counted already. */
function heldOutcome({ outcome, intent, attempts, id }: RowRecords, at: number): OutcomeRecord | undefined {
  if (outcome !== undefined && outcome.purchase?.attempt === attempts)
    return { ...outcome, at, statusCalls: 0 };
  return intent && unknownOutcome({ id, intent, attempts, price: intent.price }, at);
}

function usage(problem: string): MillraceError {
  return new MillraceError('usage', problem);
}
