import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import { isBought, type Row } from '../manifest-row.js';
import { requestHash } from '../request-hash.js';
import { FingerprintList } from './fingerprint-list.js';
import { RequestFingerprint } from './request-fingerprint.js';
import { quoteValue, stripControls } from '../quote-value.js';

/** Rows that ask for exactly what a row before them asks for, under another id: each is bought again. */
export interface SameRows {
  readonly rows: number;
  /** What they cost beside the first of their kind. */
  readonly cost: { readonly estimated: MicroDollars; readonly unpriced: number };
  /** The first 20 of them. */
  readonly first: readonly { readonly id: string; readonly line: number; readonly sameAsLine: number }[];
}

const shown = 20;
const words = 3;

/** Counts and prices rows that ask for the same. */
export class SameTally {
  #rows = 0;
  readonly #cost = { estimated: 0, unpriced: 0 };
  readonly #first: SameRows['first'][number][] = [];

  add({ id, line }: Pick<Row, 'id' | 'line'>, sameAsLine: number, price: MicroDollars | null): void {
    this.#rows++;
    if (price === null) this.#cost.unpriced++;
    else this.#cost.estimated += price;
    if (this.#first.length < shown) this.#first.push({ id, line, sameAsLine });
  }

  told(): SameRows {
    return { rows: this.#rows, cost: this.#cost, first: this.#first };
  }
}

/**
 * Finds rows that ask for the same in two passes over a manifest: the first gathers 8 bytes a row, and says whether any
 * of them come twice; only then a second one compares these rows by a real hash. Rows without an id are numbered as
 * repeats elsewhere, and a row with a `redo` column is a repeat on purpose.
 */
export class SameRequests {
  readonly #list = new FingerprintList();
  readonly #fingerprint = new RequestFingerprint();
  /** By the place of a fingerprint: the line of the first row that has it, and 64 bits of that row's hash. */
  #firsts = new Uint32Array(0);

  /** The first pass: every row, in order. */
  note(row: Row): void {
    if (!isCompared(row)) return;
    const { high, low } = this.#fingerprint.of(row);
    this.#list.add(high, low);
  }

  /** The end of the first pass: whether a second one is due. */
  needsSecondPass(): boolean {
    const count = this.#list.keepRepeated();
    this.#firsts = new Uint32Array(words * count);
    return count > 0;
  }

  /** The second pass: every row, in order. Returns the line of the first row that asks for the same; 0 for none. */
  lineBefore(row: Row): number {
    if (!isCompared(row)) return 0;
    const { high, low } = this.#fingerprint.of(row);
    const place = this.#list.indexOf(high, low);
    if (place < 0) return 0;
    const { kind, endpoint, request } = row;
    const hash = requestHash({ kind, endpoint, request });
    const facts = [row.line, Number.parseInt(hash.slice(0, 8), 16), Number.parseInt(hash.slice(8, 16), 16)];
    const first = this.#firsts.subarray(words * place, words * (place + 1));
    const [line = 0, ...bits] = first;
    if (line === 0) first.set(facts);
    return bits[0] === facts[1] && bits[1] === facts[2] ? line : 0;
  }
}

function isCompared(row: Row): boolean {
  const { redo } = row.columns;
  return row.repeat === undefined && isBought(row) && !(typeof redo === 'string' && redo !== '');
}

/** A line for people for the first of the rows that ask for the same: `line 7 (id "b") asks for the same as line 3`. */
export function describeSame({ rows, first }: SameRows): string[] {
  const rest = rows - first.length;
  return [
    ...first.map(({ id, line, sameAsLine }) =>
      stripControls(`line ${line} (id ${quoteValue(id)}) asks for the same as line ${sameAsLine}`),
    ),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}
