import type { RowProblem, RowProduct } from '../manifest-row.js';
import { quoteValue } from '../quote-value.js';
import { parseJson } from '../parse-json.js';

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

export interface TextLine {
  /** 1-based; blank lines count. */
  readonly line: number;
  readonly text: string;
}

/** A row has at most this many bytes. */
export const maxRecordBytes = 10_000_000;

/** A line of JSON as a record. */
export function recordOf({ text, line }: TextLine): RawRecord {
  const parsed = parseJson(text);
  if ('problem' in parsed)
    return brokenRecord(
      { text, line },
      parsed.isNoJson ? `${parsed.problem}; write one object a line` : parsed.problem,
      parsed.below,
    );
  const { value } = parsed;
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return brokenRecord({ text, line }, `is no JSON object, but ${quoteValue(value)}`);
  const names = Object.keys(value);
  const wrong = names.includes('') ? '' : names.includes('__proto__') ? '__proto__' : undefined;
  if (wrong !== undefined) return brokenRecord({ text, line }, `has a key ${quoteValue(wrong)}; rename it`);
  return { line, names, values: Object.values(value) };
}

export function brokenRecord({ text, line }: TextLine, message: string, column?: string): RawRecord {
  return { line, names: [], values: [text], problem: { ...(column !== undefined && { column }), message } };
}
