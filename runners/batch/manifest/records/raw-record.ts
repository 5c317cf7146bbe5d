import type { RowProblem } from '../row.js';

/** One line of the manifest, cut into cells but not understood yet. */
export interface RawRecord {
  /** 1-based line of the file where it begins. */
  readonly line: number;
  /** The columns' names; one array is shared by all rows of a CSV. */
  readonly names: readonly string[];
  /** Cell by cell, as `names`: text in a CSV, any JSON value in JSONL. */
  readonly values: unknown[];
  /** Why it cannot be understood at all: not as many cells as columns, no JSON object. */
  readonly problem?: RowProblem;
}

/** At most so many bytes a row. */
export const maxRecordBytes = 10_000_000;
