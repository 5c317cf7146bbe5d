import type { ImageEditInput } from '../../../src/contract/image-edit.js';
import type { FailureCode, Paid } from '../../../src/contract/failure-code.js';
import { requestHash } from './request-hash.js';

export type RowKind = 'edit' | 'job' | 'route';
export type RowMode = 'sync' | 'async';

/** What a row sends, checked. */
export type RowRequest =
  | { kind: 'edit'; input: ImageEditInput & Record<string, unknown> }
  | { kind: 'job'; input: Record<string, unknown> }
  | { kind: 'route'; method: 'GET' | 'POST'; route: string; body?: unknown };

/** One valid line of the manifest. `hash` may be worked out when it is asked for: a copy by `{...row}` goes without it. */
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
  /**
   * SHA-256 (hex, first 24) of kind, endpoint and request in canonical JSON: what `--changed` compares. Paths in `images`
   * count as they are written: the URLs that stand for them change from start to start.
   */
  readonly hash: string;
  /** 1k, 2k, 4k on an edit: what the price goes by. */
  readonly resolution?: string;
  /**
   * The row as it is to be read again: every column by name, as text (CSV) or JSON value (JSONL), `input.…` and `body.…`
   * cells as the values they stand for, fields that `--map` and `--set` give under the field's name. Without `error` and
   * `millrace`.
   */
  readonly cells: Readonly<Record<string, unknown>>;
  /** The user's own columns: not sent, standing in the results again. */
  readonly columns: Readonly<Record<string, unknown>>;
  /** A known id that is polled instead of bought: a row that holds only a `jobId`, or a failure read back. */
  readonly jobId?: string;
  /** On a row without an id whose request stood before: 2, 3, … It is sent, and paid, again. */
  readonly repeat?: number;
  readonly columnUse: ColumnUse;
  /** What a line of failures.jsonl said of itself when it is read back as a manifest. */
  readonly prior?: { code: FailureCode; paid: Paid; jobId?: string; imageUrl?: string };
}

/** What becomes of a row's columns, by their names in the manifest. Rows that are alike in it share one object. */
export interface ColumnUse {
  readonly kind: RowKind;
  readonly sent: readonly string[];
  /** The user's own: not sent. */
  readonly own: readonly string[];
  /** Filled columns that mean something to another kind only: not sent either, though somebody may think so. */
  readonly misplaced: readonly string[];
}

/** A line that cannot be sent, with every problem found in it. */
export interface InvalidRow {
  readonly row: number;
  readonly line: number;
  readonly id?: string;
  /** What its failure can go by: the id, unless it is missing, wrong or another row's. Unique, the same at every start. */
  readonly key: string;
  readonly problems: readonly RowProblem[];
  /** Names of the columns that mean nothing to millrace. Rows with the same columns share one list. */
  readonly ownColumns: readonly string[];
  readonly cells: Readonly<Record<string, unknown>>;
}

export interface RowProblem {
  readonly column?: string;
  /** What is wrong, with the offending value shortened, and what is allowed. */
  readonly message: string;
}

/** What stands in a line of the manifest: a row, or what is wrong with it. */
export type ManifestItem = { valid: true; row: Row } | { valid: false; row: InvalidRow };

/** Everything of a row but what is worked out from it. */
export interface RowFacts extends Omit<Row, 'hash'> {
  /** The request with its paths, before they became URLs. */
  readonly written: unknown;
  /** When somebody had to work it out already. */
  readonly hash?: string | undefined;
}

/** A row whose hash is worked out when somebody asks: a plan of a million rows with ids needs none of them. */
export class ManifestRow implements Row {
  readonly id: string;
  readonly row: number;
  readonly line: number;
  readonly kind: RowKind;
  readonly endpoint: string;
  readonly mode: RowMode;
  readonly request: RowRequest;
  readonly cells: Row['cells'];
  readonly columns: Row['columns'];
  readonly columnUse: ColumnUse;
  readonly resolution: string | undefined;
  readonly jobId: string | undefined;
  readonly repeat: number | undefined;
  readonly prior: Row['prior'];
  readonly #written: unknown;
  #hash: string | undefined;

  constructor(facts: RowFacts) {
    this.id = facts.id;
    this.row = facts.row;
    this.line = facts.line;
    this.kind = facts.kind;
    this.endpoint = facts.endpoint;
    this.mode = facts.mode;
    this.request = facts.request;
    this.cells = facts.cells;
    this.columns = facts.columns;
    this.columnUse = facts.columnUse;
    this.resolution = facts.resolution;
    this.jobId = facts.jobId;
    this.repeat = facts.repeat;
    this.prior = facts.prior;
    this.#written = facts.written;
    this.#hash = facts.hash;
  }

  get hash(): string {
    this.#hash ??= requestHash({ kind: this.kind, endpoint: this.endpoint, request: this.#content });
    return this.#hash;
  }

  /**
   * A column `redo` names the purchase that the row is to replace: it is not sent, but a row that asks for the same again
   * is not the row that was bought, so that `--changed redo` takes it once.
   */
  get #content(): unknown {
    const { redo } = this.columns;
    return typeof redo === 'string' && redo !== '' ? { redo, request: this.#written } : this.#written;
  }
}

/** Whether a row is bought when it is sent: a read is free, and what was paid already, or may have been, is collected, fetched or held. */
export function isBought(row: Pick<Row, 'jobId' | 'prior' | 'request'>): boolean {
  const { jobId, prior } = row;
  return jobId === undefined && (prior === undefined || prior.paid === 'no') && !isRead(row);
}

/** Whether a request is free to repeat: it buys nothing. */
export function isRead({ request }: Pick<Row, 'request'>): boolean {
  return request.kind === 'route' && request.method === 'GET';
}
