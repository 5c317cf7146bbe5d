import type { RowProblem, RowProduct } from '../manifest-row.js';

/** One line of the manifest, split into cells whose meaning is not known yet. */
export interface RawRecord {
  /** 1-based line of the file where it begins. */
  readonly line: number;
  /** The columns' names; one array is shared by all rows of a CSV. */
  readonly names: readonly string[];
  /** One cell for each of `names`: text in a CSV, any JSON value in JSONL. */
  readonly values: unknown[];
  /** Why the cells cannot be used: not as many cells as columns, or not a JSON object. */
  readonly problem?: RowProblem;
  /** Which of the rows that the line was multiplied to it is. */
  readonly product?: Product;
  /** Why the line cannot be multiplied, although its cells can be used. */
  readonly clash?: RowProblem;
}

/** Which of the rows that one line of the manifest became a row is. */
export interface Product extends Omit<RowProduct, 'source'> {
  /** What the axes add to the row's id. */
  readonly suffix: string;
}

/** A row has at most this many bytes. */
export const maxRecordBytes = 10_000_000;
