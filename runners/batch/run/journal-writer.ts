import { defer, map, type Observable } from 'rxjs';
import type { Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';

/** Appends to the journal and numbers what it appends, as the journal itself does. */
export class JournalWriter {
  private count: number;

  constructor(readonly journal: Journal) {
    this.count = journal.recovered.records;
  }

  /** Records of the journal, those on their way to the disk among them. */
  get records(): number {
    return this.count;
  }

  /** Cold: subscribing appends. Emits the record's number, once, when it is durable. */
  append(record: JournalRecord): Observable<number> {
    return defer(() => {
      const number = ++this.count;
      return this.journal.append(record).pipe(map(() => number));
    });
  }
}
