import type { OutcomeRecord, RecordOf } from '../journal/record.js';
import { headOf, type RowRecord } from './record-head.js';
import { bookings, type RowBooks } from './row-books.js';
import type { EndStatus, RowStatus } from './row-status.js';
import { Tally } from './tally.js';
import type { KeptTally, StartCounts, Totals } from './totals.js';

/** The state of a journal when it was opened. */
export interface KnownBooks {
  readonly tally: KeptTally;
  /** `undefined` for a row that the journal does not know. */
  booksOf(id: string): RowBooks | undefined;
}

interface RunRow extends RowBooks {
  /** Its end in this start. */
  end?: EndStatus | undefined;
  isSent?: boolean;
  /** Whether it is in doubt because of an earlier start. */
  isLeftUnknown?: boolean;
}

/** How many ids of held rows are kept, for messages. */
const idsKept = 3;

/** The tally of a running run: the journal as it was opened, and every record that has become durable since. */
export class RunTally {
  private readonly tally = new Tally();
  /** Rows in flight and held rows. Others are removed, because this start books nothing more for them. */
  private readonly rows = new Map<string, RunRow>();
  /** Rows whose jobs were expired and are polled once more. */
  private readonly polledOnceMore = new Set<string>();
  private counts = {
    ended: 0,
    completed: 0,
    failed: 0,
    unknown: 0,
    leftUnknown: 0,
    invalid: 0,
    notDownloaded: 0,
  };
  private held: string[] = [];

  constructor(private readonly known: KnownBooks) {
    this.tally.restore(known.tally);
  }

  /** Adds a durable record, in the order of the journal. Returns the state of its row then. */
  take(record: RowRecord): RowStatus {
    const row = this.rowOf(record.id);
    if (record.k === 'intent') row.isSent = true;
    if (record.k === 'reopen') this.countReopening(record.id, row, record.to);
    this.tally.take(row, headOf(record));
    if (record.k === 'outcome') this.countEnd(record, row);
    return row.status;
  }

  /** The state of a row of earlier starts, or of one in flight or held. */
  statusOf(id: string): RowStatus | undefined {
    return (this.rows.get(id) ?? this.known.booksOf(id))?.status;
  }

  /** Rows and money over all starts. */
  totals(): Totals {
    return this.tally.totals();
  }

  /** The sums behind `totals`. */
  get kept(): KeptTally {
    return this.tally.kept;
  }

  get thisStart(): StartCounts {
    return { ...this.counts, held: this.held };
  }

  private rowOf(id: string): RunRow {
    const known: RunRow | undefined = this.rows.get(id) ?? this.known.booksOf(id);
    if (known === undefined) this.tally.addRow();
    const row = known ?? newRow();
    this.rows.set(id, row);
    return row;
  }

  private countEnd({ id, source, statusCalls }: OutcomeRecord, row: RunRow): void {
    if (source !== 'unknown' && row.status !== 'unknown') this.rows.delete(id);
    // The row had ended as expired before, so it is not counted for this start.
    if (row.status === 'expired' && this.polledOnceMore.delete(id)) return;
    row.end = row.status as EndStatus;
    row.isLeftUnknown = row.end === 'unknown' && row.isSent !== true && statusCalls === 0;
    this.count(row, row.end, 1);
    if (row.end === 'unknown' && this.held.length < idsKept) this.held.push(id);
  }

  private countReopening(id: string, row: RunRow, to: RecordOf<'reopen'>['to']): void {
    if (row.status === 'expired' && to === 'poll') this.polledOnceMore.add(id);
    if (row.end === undefined) return;
    this.count(row, row.end, -1);
    this.held = this.held.filter((held) => held !== id);
    delete row.end;
  }

  private count({ isLeftUnknown }: RunRow, end: EndStatus, by: 1 | -1): void {
    this.counts.ended += by;
    this.counts[end === 'completed' ? 'completed' : 'failed'] += by;
    if (end === 'unknown') this.counts.unknown += by;
    if (isLeftUnknown === true) this.counts.leftUnknown += by;
    if (end === 'invalid-row') this.counts.invalid += by;
    if (end === 'download') this.counts.notDownloaded += by;
  }
}

/** With all of its fields: one that is added later would take 40 bytes more. */
function newRow(): RunRow {
  return {
    status: 'open',
    booking: bookings.none,
    amount: 0,
    isUnpriced: false,
    account: 0,
    isSent: false,
    end: undefined,
  };
}
