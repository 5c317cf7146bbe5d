import type { ColumnUse, Row, RowKind, RowMode, RowRequest } from '../manifest-row.js';
import { imageEditDefaults } from '../../../../src/contract/image-edit.js';
import { askedHash, rowHash } from '../request-hash.js';

/** The facts of a row from which its hash is computed. */
interface RowParts extends Omit<Row, 'hash'> {
  /** The request as written, with paths instead of URLs. */
  readonly written: unknown;
  /** Set if it is known already. */
  readonly hash?: string | undefined;
}

/** A row that computes its hash on first use: a plan of a million rows with ids needs none. */
export class HashedRow implements Row {
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
  readonly priority: number | undefined;
  readonly jobId: string | undefined;
  readonly repeat: number | undefined;
  readonly product: Row['product'];
  readonly prior: Row['prior'];
  readonly notes: Row['notes'];
  readonly #written: unknown;
  #hash: string | undefined;
  #alike: readonly string[] | undefined;

  constructor(facts: RowParts) {
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
    this.priority = facts.priority;
    this.jobId = facts.jobId;
    this.repeat = facts.repeat;
    this.product = facts.product;
    this.prior = facts.prior;
    this.notes = facts.notes;
    this.#written = facts.written;
    this.#hash = facts.hash;
  }

  get hash(): string {
    return (this.#hash ??= rowHash(this, this.#written));
  }

  get isAsWritten(): boolean {
    return this.#written === this.request;
  }

  get alike(): readonly string[] {
    return (this.#alike ??= this.#hashesAlike());
  }

  #hashesAlike(): readonly string[] {
    const { kind, hash } = this;
    const asked = askedHash(this);
    if (kind !== 'edit') return asked === hash ? [] : [asked];
    const { input } = this.#written as { readonly input: EditInput };
    const hashes = otherWays(input).map((way) => rowHash(this, { input: way, kind }));
    return asked === hash || hashes.includes(asked) ? hashes : [...hashes, asked];
  }
}

type EditInput = Readonly<Record<string, unknown>>;

/** The same input with default values left out or written out: a journal of 0.1.0 knows a request only as it was written. */
function otherWays(input: EditInput): EditInput[] {
  let ways = [input];
  for (const [field, value] of Object.entries(imageEditDefaults)) {
    const written = input[field];
    if (written !== undefined && written !== value) continue;
    ways = ways.flatMap((way) => [way, { ...way, [field]: written === undefined ? value : undefined }]);
  }
  return ways.slice(1);
}
