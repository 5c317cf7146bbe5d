import type { RecordOf } from '../journal/record.js';
import { columnValue } from '../manifest/columns/column-value.js';
import { originOf, type RowRecord } from '../row/record-head.js';
import { costLine, freedLine } from './cost-line.js';
import { roughBytes, type EndedRow } from './line-text.js';
import { failureLine, type FailureLine } from './failure-line.js';
import { resultLine, type ResultLine } from './result-line.js';

/** A row that has completed. An earlier result of it leaves results.jsonl. */
export interface CompletedRow {
  readonly id: string;
  /** Number of POSTs over all starts; `undefined` if it is not known. */
  readonly attempts: number | undefined;
  /** Absent if a later result of the row follows, or if the journal has lost what the line is made of. */
  readonly line: ResultLine | undefined;
  /** The row's earlier result that this one replaces, if it has no line in the file. */
  readonly before: ResultLine | undefined;
}

const largeBytes = 8 * 1024 * 1024;

/** The lines of rows that ended, to be appended together. */
export class LineBatch {
  readonly completed: CompletedRow[] = [];
  readonly failures: FailureLine[] = [];
  costs = '';
  /** Number of the last journal outcome that the batch contains. */
  record = 0;
  private count = 0;
  private bytes = 0;

  /** @param columns The user's columns whose values are written to costs.csv. @defaultValue none */
  constructor(private readonly columns: readonly string[] = []) {}

  get isEmpty(): boolean {
    return this.count === 0;
  }

  get isLarge(): boolean {
    return this.count >= 200 || this.bytes >= largeBytes;
  }

  /**
   * @param isCurrent Whether this outcome still stands; otherwise only the purchase gets a line.
   * @param more.isVoid Whether the purchase is no longer held; then it gets no line.
   * @param more.before See `CompletedRow`.
   */
  add(
    row: EndedRow,
    isCurrent: boolean,
    more: { isVoid?: boolean; before?: ResultLine | undefined } = {},
  ): void {
    const { intent, outcome } = row;
    this.count++;
    this.bytes += roughBytes(row.reply?.output);
    const values = this.columns.length > 0 ? this.valuesOf(intent ?? outcome) : undefined;
    if (more.isVoid !== true) this.costs += costLine(outcome, values) ?? '';
    if (outcome.status === 'completed') {
      const line = isCurrent ? resultLine(row) : undefined;
      this.completed.push({ id: outcome.id, attempts: intent?.attempt, line, before: more.before });
    } else if (isCurrent) {
      const failure = failureLine(row);
      if (failure) this.failures.push(failure);
    }
  }

  /**
   * Adds the line of a purchase that was held while its row was bought again, and is now decided. A purchase that was
   * never made gets no line.
   */
  addFreed(record: RecordOf<'freed'>): void {
    this.count++;
    this.costs += freedLine(record, this.valuesOf(record)) ?? '';
  }

  private valuesOf(record: RowRecord): string[] {
    const origin = originOf(record);
    return this.columns.map((column) => (origin === undefined ? '' : columnValue(origin, column)));
  }
}
