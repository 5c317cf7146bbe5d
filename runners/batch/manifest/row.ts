import type { ImageEditInput } from '../../../src/contract/image-edit.js';
import type { Paid } from '../../../src/contract/outcome.js';
import type { FailureCode } from '../../../src/contract/failure-code.js';

export type RowKind = 'edit' | 'job' | 'route';
export type RowMode = 'sync' | 'async';

/** What a row sends, checked. `collect`: a row that holds only a jobId, or a failure that is polled: buys nothing. */
export type RowRequest =
  | { kind: 'edit'; input: ImageEditInput & Record<string, unknown> }
  | { kind: 'job'; input: Record<string, unknown> }
  | { kind: 'route'; method: 'GET' | 'POST'; route: string; body?: unknown };

/** One valid line of the manifest. */
export interface Row {
  readonly id: string;
  /** 1-based among the manifest's rows; the header does not count. */
  readonly row: number;
  /** 1-based line of the file where the row begins. */
  readonly line: number;
  readonly kind: RowKind;
  /** Endpoint id; the empty string on a route. */
  readonly endpoint: string;
  readonly mode: RowMode;
  readonly request: RowRequest;
  /** SHA-256 (hex, first 24) of kind, endpoint and request in canonical JSON: what `--changed` compares. */
  readonly hash: string;
  /** 1k, 2k, 4k on an edit: what the price goes by. */
  readonly resolution?: string;
  /** The row as it was read: every column by name, as text (CSV) or JSON value (JSONL). Without `error` and `millrace`. */
  readonly cells: Readonly<Record<string, unknown>>;
  /** The user's own columns: not sent, standing in the results again. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** A known id that is polled instead of bought: a row that holds only a `jobId`, or a failure read back. */
  readonly jobId?: string;
  /** What a line of failures.jsonl said of itself when it is read back as a manifest. */
  readonly prior?: { code: FailureCode; paid: Paid; jobId?: string; imageUrl?: string };
}

/** A line that cannot be sent, with every problem found in it. */
export interface InvalidRow {
  readonly row: number;
  readonly line: number;
  readonly id?: string;
  readonly problems: readonly RowProblem[];
  readonly cells: Readonly<Record<string, unknown>>;
}

export interface RowProblem {
  readonly column?: string;
  /** What is wrong, with the offending value shortened, and what is allowed. */
  readonly message: string;
}

export type ManifestItem = { valid: true; row: Row } | { valid: false; row: InvalidRow };
