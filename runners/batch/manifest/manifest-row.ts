import type { ImageEditInput } from '../../../src/contract/image-edit.js';
import type { FailureCode, Paid } from '../../../src/contract/failure-code.js';

export type RowKind = 'edit' | 'job' | 'route';
export type RowMode = 'sync' | 'async';

export type RowRequest =
  | { kind: 'edit'; input: ImageEditInput & Record<string, unknown> }
  | { kind: 'job'; input: Record<string, unknown> }
  | { kind: 'route'; method: 'GET' | 'POST'; route: string; body?: unknown };

/** The resolution of a job whose input has one that no price list knows: it has the highest price of its endpoint. */
export const otherResolution = 'other';

/** One valid line of the manifest. `hash`, `isAsWritten` and `alike` may be getters, which a copy by `{...row}` does not have. */
export interface Row {
  readonly id: string;
  /** The number of the row, from 1, without the header. */
  readonly row: number;
  /** 1-based line of the file where the row begins. */
  readonly line: number;
  readonly kind: RowKind;
  /** Endpoint id; the empty string on a route. */
  readonly endpoint: string;
  readonly mode: RowMode;
  readonly request: RowRequest;
  /**
   * SHA-256 (first 24 hex digits) of kind, endpoint and request in canonical JSON; `--changed` compares it. Paths in `images`
   * are hashed as written, because their URLs may be different at each start.
   */
  readonly hash: string;
  /** It is sent as it is written: no path became a URL. @defaultValue not known */
  readonly isAsWritten?: boolean;
  /** The hashes of other ways to write the same request: see `askedHash`. */
  readonly alike?: readonly string[];
  /**
   * The resolution that decides the price: of an edit 1k, 2k or 4k; of a job with a price per picture one that has a price, 1k if
   * its input has none, or `otherResolution`.
   */
  readonly resolution?: string;
  /**
   * The row in a form that can be read again: every column by name, as text (CSV) or JSON value (JSONL). `input.…` and
   * `body.…` cells are parsed; fields from `--map` and `--set` stand under the field's name. `error` and `millrace` are left
   * out.
   */
  readonly cells: Readonly<Record<string, unknown>>;
  /** The user's own columns: they are not sent, and are copied to the results. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** Rows with a higher priority are sent first. @defaultValue 0 */
  readonly priority?: number | undefined;
  /** The id of a job to poll instead of buying one: from a row with only a `jobId`, or from a line of failures.jsonl. */
  readonly jobId?: string;
  /** 2, 3, … on a row without an id that repeats an earlier request. It is sent and paid for again. */
  readonly repeat?: number;
  /** Set on a row that `--each` or `--repeat` made from a line of the manifest. */
  readonly product?: RowProduct;
  readonly columnUse: ColumnUse;
  /** Cells that look damaged, though the row is sent. Absent if there are none. */
  readonly notes?: readonly CellNote[];
  /** The failure in a line of failures.jsonl, if that file is used as a manifest. */
  readonly prior?: { code: FailureCode; paid: Paid; jobId?: string; imageUrl?: string };
}

/**
 * What a spreadsheet or a wrong encoding has probably done to a text that is sent all the same, because it may be meant:
 *
 * - `encoding`: its characters were read in another encoding than they were saved in, or lost
 * - `formula`: a formula was exported in place of its value
 * - `escaped`: a text begins with the apostrophe that results.csv puts before what looks like a formula
 * - `rounded`: an id is a long number in few digits
 * - `zero`: a prompt is `0`, which a formula gives for an empty cell
 * - `typed`: a number or a truth value as a spreadsheet shows it, which is sent as text
 */
export type Damage = 'encoding' | 'formula' | 'escaped' | 'rounded' | 'zero' | 'typed';

/** A cell that a spreadsheet or a wrong encoding has probably damaged. */
export interface CellNote {
  readonly column: string;
  /** The text, or the part of it that looks damaged. */
  readonly text: string;
  readonly damage: Damage;
}

/** The place of a row among those made from one line. */
export interface RowProduct {
  /** The id that the line itself has. */
  readonly source?: string;
  /** Its index among the rows of the line, from 0. */
  readonly index: number;
  /** The value of each axis; also in `columns`. */
  readonly axes: Readonly<Record<string, string>>;
  /** Its number among the rows that `--repeat` made, from 1. They have the same request on purpose. */
  readonly repeat: number;
}

/** How a row's columns are used, by their names in the manifest. Rows with the same use share one object. */
export interface ColumnUse {
  readonly kind: RowKind;
  readonly sent: readonly string[];
  /** The user's own columns: they are not sent. */
  readonly own: readonly string[];
  /** The part of `own` that filled a text of `--set`. */
  readonly filledIn?: readonly string[];
  /** Columns with a value that only another kind of row sends: the user may believe that they are sent. */
  readonly misplaced: readonly string[];
}

/** A line that cannot be sent, with all its problems. */
export interface InvalidRow {
  readonly row: number;
  readonly line: number;
  readonly id?: string;
  /** The id of its failure, unique and the same at each start: the row's own id, unless that is missing, invalid or another row's. */
  readonly key: string;
  readonly problems: readonly RowProblem[];
  /** Names of the user's own columns. Rows with the same columns share one list. */
  readonly ownColumns: readonly string[];
  readonly cells: Readonly<Record<string, unknown>>;
}

export interface RowProblem {
  readonly column?: string;
  /** States what is wrong, with the value shortened, and what is allowed. */
  readonly message: string;
}

/** A line of the manifest: a row, or its problems. */
export type ManifestItem = { valid: true; row: Row } | { valid: false; row: InvalidRow };

/** Whether sending the row buys something. A GET is free; a row that was or may have been paid for is collected, fetched or held. */
export function isBought(row: Pick<Row, 'jobId' | 'prior' | 'request'>): boolean {
  const { jobId, prior } = row;
  return jobId === undefined && (prior === undefined || prior.paid === 'no') && !isRead(row);
}

/** Whether the request buys nothing and may be repeated. */
export function isRead({ request }: Pick<Row, 'request'>): boolean {
  return request.kind === 'route' && request.method === 'GET';
}
