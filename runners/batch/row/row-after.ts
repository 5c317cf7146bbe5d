import { moneyOfAll } from './accounts.js';
import type { MicroDollars } from '../../../src/contract/micro-dollars.js';
import type { PendingRow, RowRecords } from '../journal/journal.js';
import { isFree, isUnanswered, leftTask, recordsOfSent } from './left-rows.js';
import { headOf, type RowRecord } from './record-head.js';
import { bookings, type RowBooks } from './row-books.js';
import { isEnd, nextStatus } from './row-status.js';
import { Tally } from './tally.js';
import type { RowTask, Task } from './task.js';

export type { RowTask };

/** What happens to a row that its process has left. */
export interface RowLeft {
  /** Another process continues it; absent if `records` end it, if it had ended before, or if only its picture is to be saved. */
  readonly goesOn?: RowTask;
  readonly records: readonly RowRecord[];
}

/**
 * Decides on a row that its process has left, from its task and the records that the process wrote. A job id is polled.
 * A request without an answer may have been accepted, and is sent again only if `isSentAgain` allows it.
 */
export function rowLeft(
  task: RowTask,
  written: readonly RowRecord[],
  { at, isSentAgain }: { readonly at: number; readonly isSentAgain: (doubles: number) => boolean },
): RowLeft {
  const row = rowAfter(task, written);
  if (row.status === 'open') return { goesOn: again(task, row), records: [] };
  if (isEnd(row.status) || row.status === 'replied' || row.intent === undefined) return { records: [] };
  const pending = { ...row, price: row.intent.price } as PendingRow;
  if (!isUnanswered(pending)) return goingOn(leftTask(row));
  if (isFree(pending)) return { goesOn: again(task, row), records: [] };
  const isDoubled = isSentAgain(written.filter(({ k }) => k === 'reopen').length);
  const records = recordsOfSent(pending, at, isDoubled);
  return isDoubled ? { goesOn: again(task, row), records } : { records };
}

function goingOn(task: Task | undefined): RowLeft {
  return task?.what === 'poll' ? { goesOn: task, records: [] } : { records: [] };
}

function again(task: RowTask, { attempts }: RowRecords): RowTask {
  // The job that the manifest names is polled; any other open row is sent.
  if (task.what === 'send' || task.intent === undefined) return { ...task, attempts };
  return { what: 'send', row: task.row, attempts };
}

function rowAfter(task: RowTask, written: readonly RowRecord[]): RowRecords {
  const isBought = task.what === 'poll' && task.intent !== undefined;
  const known: RowRecords = {
    id: task.row.id,
    status: isBought ? 'accepted' : 'open',
    attempts: task.attempts,
    ...(isBought && { intent: task.intent, jobId: task.jobId }),
    ...(isBought && task.submittedAt !== undefined && { acceptedAt: task.submittedAt }),
  };
  return written.reduce(afterRecord, known);
}

export function afterRecord(row: RowRecords, record: RowRecord): RowRecords {
  const status = nextStatus(row.status, headOf(record));
  if (record.k === 'accepted') return { ...row, status, jobId: record.jobId, acceptedAt: record.at };
  if (record.k === 'outcome') return { ...row, status, outcome: record };
  if (record.k !== 'intent') return { ...row, status };
  const { id } = row;
  const { attempt, jobId } = record;
  return { id, status, attempts: attempt, intent: record, ...(jobId !== undefined && { jobId }) };
}

/** Money that records add to a run's books, in millionths of a dollar. */
export interface Booked {
  readonly spent: MicroDollars;
  readonly unknown: MicroDollars;
}

/** Finds how much each record of rows in flight adds to the money of the run. */
export class RowsBooked {
  private readonly tally = new Tally();
  private sums: Booked = { spent: 0, unknown: 0 };

  /** The books of a row when this task begins. A job that was bought before is in the sums of the run already. */
  begin(task: RowTask): RowBooks {
    const row: RowBooks = {
      status: 'open',
      booking: bookings.none,
      amount: 0,
      isUnpriced: false,
      account: 0,
    };
    this.tally.addRow();
    if (task.what === 'poll' && task.intent !== undefined) this.add(row, task.intent);
    return row;
  }

  /** Adds a record of the row. Returns the change in money, which is 0 if it was booked before. */
  add(row: RowBooks, record: RowRecord): Booked {
    const before = this.sums;
    this.tally.take(row, headOf(record));
    const { reported, estimated, unknown } = moneyOfAll(this.tally.kept.accounts);
    this.sums = { spent: reported + estimated, unknown };
    return { spent: this.sums.spent - before.spent, unknown: unknown - before.unknown };
  }
}
