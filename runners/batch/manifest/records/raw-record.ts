import type { RowProblem, RowProduct } from '../manifest-row.js';

/** One line of the manifest, split into cells whose meaning is not known yet. */
export interface RawRecord {
  /** 1-based line of the file where it begins. */
  readonly line: number;
  /** The columns' names; one array is shared by all rows of a CSV. */
  readonly names: readonly string[];
  /** One cell for each of `names`: text in a CSV, any JSON value in JSONL. */
  readonly values: unknown[];
  /** Why the cells cannot be used: their number is not that of the columns, or the line is not a JSON object. */
  readonly problem?: RowProblem;
  /** Set if the line was multiplied: which of its rows this is. */
  readonly product?: Product;
  /** Why the line cannot be multiplied, although its cells can be used. */
  readonly clash?: RowProblem;
}

/** The place of a row among those that one line was multiplied to. */
export interface Product extends Omit<RowProduct, 'source'> {
  /** The text that the axes add to the row's id. */
  readonly suffix: string;
}

/** The maximum length of a row. */
export const maxRecordBytes = 10_000_000;
