import { defer, map, type Observable } from 'rxjs';
import type { Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';

/** Appends to the journal and numbers what it appends, as the journal itself does. */
export class JournalWriter {
  private count: number;
  private outcome = 0;

  constructor(readonly journal: Journal) {
    this.count = journal.recovered.records;
  }

  /** Records of the journal, those on their way to the disk among them. */
  get records(): number {
    return this.count;
  }

  /** Number of the last outcome that was appended, on its way or durable; 0: none was. */
  get lastOutcome(): number {
    return this.outcome;
  }

  /** Cold: subscribing appends. Emits the record's number, once, when it is durable. */
  append(record: JournalRecord): Observable<number> {
    return defer(() => {
      const number = ++this.count;
      if (record.k === 'outcome') this.outcome = number;
      return this.journal.append(record).pipe(map(() => number));
    });
  }
}
