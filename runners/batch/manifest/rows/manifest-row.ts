import { requestHash } from '../request-hash.js';
import type { ColumnUse, Row, RowKind, RowMode, RowRequest } from '../row.js';

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
