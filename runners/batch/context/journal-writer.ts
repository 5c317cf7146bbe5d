import { defer, type Observable } from 'rxjs';
import type { Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';
import { RunTally } from '../row/run-tally.js';

/** Appends to the journal, and keeps the tally of what is durable in it. */
export class JournalWriter {
  /** Rows and money by all records that are durable. */
  readonly tally: RunTally;
  /** Records of the journal that are known to be durable. */
  records: number;
  /** Number of the last durable outcome of this start; 0: none yet. */
  lastOutcome = 0;

  constructor(readonly journal: Journal) {
    this.records = journal.recovered.records;
    this.tally = new RunTally(journal.recovered);
  }

  /** Cold: subscribing appends. Emits the record's number, once, when it is durable. */
  append(record: JournalRecord): Observable<number> {
    return defer(() => {
      const appended = this.journal.append(record);
      // A record counts also when its row was left while it was on its way to the disk.
      const note = (number: number): void => {
        this.records = Math.max(this.records, number);
        if (record.k === 'outcome') this.lastOutcome = Math.max(this.lastOutcome, number);
        if ('id' in record) this.tally.take(record);
      };
      appended.subscribe({ next: note, error: () => undefined });
      return appended;
    });
  }
}
