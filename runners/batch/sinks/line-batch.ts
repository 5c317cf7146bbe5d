import type { RecordOf } from '../journal/record.js';
import { columnValue } from '../manifest/columns/column-value.js';
import { originOf, type RowRecord } from '../row/record-head.js';
import { costLine, freedLine } from './cost-line.js';
import { type EndedRow, lineJson } from './line-text.js';
import { failureLine, type FailureLine } from './failure-line.js';
import { resultLine, type ResultLine } from './result-line.js';

/** The lines of rows that ended, to be appended together. */
export class LineBatch {
  readonly results: ResultLine[] = [];
  readonly failures: FailureLine[] = [];
  earlier = '';
  costs = '';
  /** Number of the last journal outcome that the batch contains. */
  record = 0;
  private count = 0;

  /** @param columns The user's columns whose values are written to costs.csv. @defaultValue none */
  constructor(private readonly columns: readonly string[] = []) {}

  get isEmpty(): boolean {
    return this.count === 0;
  }

  get isLarge(): boolean {
    return this.count >= 200;
  }

  /**
   * @param isCurrent Whether this outcome still stands; otherwise only the purchase gets a line.
   * @param isVoid Whether the purchase is no longer held; then it gets no line.
   */
  add(row: EndedRow, isCurrent: boolean, isVoid = false): void {
    this.count++;
    const values = this.columns.length > 0 ? this.valuesOf(row.intent ?? row.outcome) : undefined;
    if (!isVoid) this.costs += costLine(row.outcome, values) ?? '';
    if (!isCurrent) return;
    const result = resultLine(row);
    const failure = result === undefined ? failureLine(row) : undefined;
    if (result) this.results.push(result);
    if (failure) this.failures.push(failure);
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

  /** Adds a completed row that was redone since. */
  addEarlier(row: EndedRow): void {
    const result = resultLine(row);
    if (result === undefined) return;
    this.count++;
    this.earlier += `${lineJson(result)}\n`;
  }
}
