import type { MicroDollars } from '../../../../src/contract/micro-dollars.js';
import { isBought, type Row } from '../manifest-row.js';
import { hashWord, requestHash } from '../request-hash.js';
import { FingerprintList } from './fingerprint-list.js';
import { RequestFingerprint } from './request-fingerprint.js';
import { quoteValue, stripControls } from '../quote-value.js';

/** Rows with the same request as an earlier row, under another id: each is bought again. */
export interface SameRows {
  readonly rows: number;
  /** Their cost, without that of the first row with each request. */
  readonly cost: { readonly estimated: MicroDollars; readonly unpriced: number };
  /** The first 20 of them. */
  readonly first: readonly { readonly id: string; readonly line: number; readonly sameAsLine: number }[];
}

/** Rows to be sent that ask for exactly what was or may have been paid already. */
export interface BoughtRows extends SameRows {
  /** Folders of other runs that have bought it. Absent: the run itself has, under other ids. */
  readonly elsewhere?: readonly string[];
}

const shown = 20;
const words = 3;

/** Counts and prices rows with the same request. */
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

  result(): SameRows {
    return { rows: this.#rows, cost: this.#cost, first: this.#first };
  }
}

/**
 * Finds rows with the same request in two passes over a manifest. The first collects 8 bytes per row and finds out whether
 * any of them repeat; only then the second pass compares these rows by SHA-256. Rows without an id are left out because they
 * are numbered as repeats, and rows with a `redo` column because they repeat a request on purpose.
 */
export class SameRequests {
  readonly #list = new FingerprintList();
  readonly #areHashed: boolean;
  readonly #fingerprint = new RequestFingerprint();
  /** For each repeated fingerprint: the line of the first row that has it, and 64 bits of that row's hash. */
  #firsts = new Uint32Array(0);

  /** @param areHashed the hash of each row is known, and is that of the request that is sent: nothing else is computed of it */
  constructor(areHashed = false) {
    this.#areHashed = areHashed;
  }

  /** First pass: called with every row, in order. */
  note(row: Row): void {
    if (!isCompared(row)) return;
    const { high, low } = this.#printOf(row);
    this.#list.add(high, low);
  }

  /** End of the first pass: whether a second one is needed. */
  needsSecondPass(): boolean {
    const count = this.#list.keepRepeated();
    this.#firsts = new Uint32Array(words * count);
    return count > 0;
  }

  /** Second pass: called with every row, in order. Returns the line of the first row with the same request; 0: there is none. */
  lineBefore(row: Row): number {
    if (!isCompared(row)) return 0;
    const { high, low } = this.#printOf(row);
    const place = this.#list.indexOf(high, low);
    if (place < 0) return 0;
    const { kind, endpoint, request } = row;
    const hash = requestHash({ kind, endpoint, request });
    const facts = [row.line, hashWord(hash, 0), hashWord(hash, 8)];
    const first = this.#firsts.subarray(words * place, words * (place + 1));
    const [line = 0, ...bits] = first;
    if (line === 0) first.set(facts);
    return bits[0] === facts[1] && bits[1] === facts[2] ? line : 0;
  }

  #printOf(row: Row): Pick<RequestFingerprint, 'high' | 'low'> {
    if (!this.#areHashed) return this.#fingerprint.of(row);
    const { hash, product } = row;
    const high = hashWord(hash, 0);
    return { high: product === undefined ? high : (high ^ product.repeat) >>> 0, low: hashWord(hash, 8) };
  }
}

function isCompared(row: Row): boolean {
  const { redo } = row.columns;
  return row.repeat === undefined && isBought(row) && !(typeof redo === 'string' && redo !== '');
}

/** One line of text for each of the first rows with the same request: `line 7 (id "b") asks for the same as line 3`. */
export function describeSame(rows: SameRows): string[] {
  return described(rows, ({ sameAsLine }) => `asks for the same as line ${sameAsLine}`);
}

/** The same for rows of a redo manifest whose rejected purchase is no longer the latest one. */
export function describeOutdated(rows: SameRows): string[] {
  return described(rows, () => 'rejects a picture that was bought again since');
}

/** The same for rows that ask for what was bought before, by the run itself for a row that the manifest has no more, or in other folders. */
export function describeBought(rows: BoughtRows): string[] {
  const what = rows.elsewhere
    ? `was bought already, in ${rows.elsewhere.join(' and ')}`
    : 'the run has bought already, for a row that is not in the manifest';
  return described(rows, () => `asks for what ${what}`);
}

function described({ rows, first }: SameRows, what: (row: SameRows['first'][number]) => string): string[] {
  const rest = rows - first.length;
  return [
    ...first.map((row) => stripControls(`line ${row.line} (id ${quoteValue(row.id)}) ${what(row)}`)),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}
