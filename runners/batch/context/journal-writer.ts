import { defer, tap, type Observable } from 'rxjs';
import type { Journal } from '../journal/journal.js';
import type { JournalRecord } from '../journal/record.js';

/** Appends to the journal, and remembers how far it is by the numbers that the journal itself gives. */
export class JournalWriter {
  private count: number;
  private outcome = 0;

  constructor(readonly journal: Journal) {
    this.count = journal.recovered.records;
  }

  /** Records of the journal that are known to be durable. */
  get records(): number {
    return this.count;
  }

  /** Number of the last durable outcome of this start; 0: none yet. */
  get lastOutcome(): number {
    return this.outcome;
  }

  /** Cold: subscribing appends. Emits the record's number, once, when it is durable. */
  append(record: JournalRecord): Observable<number> {
    return defer(() => {
      const appended = this.journal.append(record).pipe(tap((number) => this.note(record, number)));
      // An outcome counts also when its row was left while it was on its way to the disk.
      if (record.k === 'outcome') appended.subscribe({ error: () => undefined });
      return appended;
    });
  }

  private note({ k }: JournalRecord, number: number): void {
    this.count = Math.max(this.count, number);
    if (k === 'outcome') this.outcome = Math.max(this.outcome, number);
  }
}
