import { defer, type Observable } from 'rxjs';
import type { Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';
import type { RowRecord } from '../row/record-head.js';
import type { RowStatus } from '../row/row-status.js';
import { RunTally } from '../row/run-tally.js';

/** Appends to the journal, and keeps the tally of its durable records. */
export class JournalWriter {
  /** Rows and money according to all durable records. */
  readonly tally: RunTally;
  /** The number of journal records that are known to be durable. */
  records: number;
  /** Number of the last durable outcome of this start; 0 if there is none yet. */
  lastOutcome = 0;

  /** @param durable called when a record of a row has become durable, with the state of the row then */
  constructor(
    readonly journal: Journal,
    private readonly durable: (record: RowRecord, status: RowStatus) => void = () => undefined,
  ) {
    this.records = journal.recovered.records;
    this.tally = new RunTally(journal.recovered);
  }

  /** Appends when it is subscribed to. Emits the record's number once it is durable. */
  append(record: JournalRecord): Observable<number> {
    return defer(() => {
      const appended = this.journal.append(record);
      // The record is counted even if its subscriber unsubscribes before it is durable.
      const note = (number: number): void => {
        this.records = Math.max(this.records, number);
        if (record.k === 'outcome') this.lastOutcome = Math.max(this.lastOutcome, number);
        if ('id' in record) this.durable(record, this.tally.take(record));
      };
      appended.subscribe({ next: note, error: () => undefined });
      return appended;
    });
  }
}
