import { addPrice, type MicroDollars } from '../../../../src/contract/micro-dollars.js';
import { isBought, type Row } from '../manifest-row.js';
import { hashWord, requestHash } from '../request-hash.js';
import { FingerprintList } from './hash-table.js';
import { mixed } from './id-hash.js';
import { quoteValue, stripControls } from '../quote-value.js';

/** Rows that buy the request of an earlier row again, under another id. */
export interface SameRows {
  readonly rows: number;
  /** Their cost. The first row with each request does not count. */
  readonly cost: { readonly estimated: MicroDollars; readonly unpriced: number };
  /** The first 20 of them. */
  readonly first: readonly {
    readonly id: string;
    readonly line: number;
    readonly sameAsLine: number;
    /** The id under which the request was bought before. */
    readonly boughtAs?: string;
  }[];
}

/** Rows to be sent whose exact request was or may have been paid for already. */
export interface BoughtRows extends SameRows {
  /** Folders of the other runs that have bought it. Absent if this run has, under other ids. */
  readonly elsewhere?: readonly string[];
  /** The journal of the first of these is gone or damaged: some of the rows may have been bought there. */
  readonly isLost?: boolean;
  /** It is there, but damaged or an older copy. */
  readonly isDamaged?: boolean;
  /** It was in the first of these folders before the run that is there now. */
  readonly isReplaced?: boolean;
  /** If this run has bought requests of this start: further rows, whose requests other runs have bought. Absent if there are none. */
  readonly others?: BoughtRows;
  /** It was in the folder of this start. */
  readonly isHere?: boolean;
  /** The part that `Ahead.same` has, too. Absent if there is none. */
  readonly twice?: SameRows;
}

/** What is known of another run whose journal cannot be read. */
type Lost = Pick<BoughtRows, 'isLost' | 'isDamaged' | 'isReplaced'>;

/** Where the other run is. */
export function boughtIn(
  [folder = '']: readonly string[],
  { isLost = false, isDamaged = false, isReplaced = false }: Lost = {},
): string {
  if (!isLost) return `was bought already, in ${folder}`;
  if (isReplaced)
    return `may have been bought already, by an earlier run in ${folder}, whose journal is gone (was the folder moved?)`;
  const why = isDamaged
    ? 'damaged, or an older copy'
    : 'gone or cannot be read (was the folder moved, or is its disk not mounted?)';
  return `may have been bought already, in ${folder}, whose journal is ${why}`;
}

const shown = 20;
const words = 3;

/** Counts and prices rows with the same request. */
export class SameTally {
  #rows = 0;
  readonly #cost = { estimated: 0, unpriced: 0 };
  readonly #first: SameRows['first'][number][] = [];

  add(
    { id, line }: Pick<Row, 'id' | 'line'>,
    sameAsLine: number,
    price: MicroDollars | null,
    boughtAs?: string,
  ): void {
    this.#rows++;
    addPrice(this.#cost, price);
    if (this.#first.length < shown)
      this.#first.push({ id, line, sameAsLine, ...(boughtAs !== undefined && { boughtAs }) });
  }

  result(): SameRows {
    return { rows: this.#rows, cost: this.#cost, first: this.#first };
  }
}

/**
 * Finds rows with the same request in two passes over a manifest. The first pass keeps 8 bytes per row and finds whether any
 * repeat; only then a second pass compares these rows by SHA-256. Rows without an id are not compared, because they are
 * numbered as repeats; nor are rows with a `redo` column, which repeat a request on purpose.
 */
export class SameRequests {
  readonly #list = new FingerprintList();
  readonly #printOf: (row: Row) => Pick<RequestFingerprint, 'high' | 'low'>;
  /** For each repeated fingerprint: the line of the first row that has it, and 64 bits of that row's hash. */
  #firsts = new Uint32Array(0);

  /** @param areHashed whether each row has its hash already, and is sent as it is written: the hash is then used as it is */
  constructor(areHashed = false) {
    const fingerprint = new RequestFingerprint();
    this.#printOf = areHashed ? printOfHash : (row) => fingerprint.of(row);
  }

  /** First pass: call this with every row, in order. */
  note(row: Row): void {
    if (!isCompared(row)) return;
    const { high, low } = this.#printOf(row);
    this.#list.add(high, low);
  }

  /** Ends the first pass. Returns whether a second one is needed. */
  needsSecondPass(): boolean {
    const count = this.#list.keepRepeated();
    this.#firsts = new Uint32Array(words * count);
    return count > 0;
  }

  /**
   * Second pass: call this with every row, in order. Returns the line of the first row with the same request: its own if that is
   * the row itself, and 0 if no other row has it.
   */
  firstLine(row: Row): number {
    if (!isCompared(row)) return 0;
    const { high, low } = this.#printOf(row);
    const place = this.#list.indexOf(high, low);
    if (place < 0) return 0;
    const { kind, endpoint, request } = row;
    const hash = requestHash({ kind, endpoint, request });
    const facts = [row.line, hashWord(hash, 0), hashWord(hash, 8)];
    const first = this.#firsts.subarray(words * place, words * (place + 1));
    if (first[0] === 0) first.set(facts);
    const [line = 0, ...bits] = first;
    return bits[0] === facts[1] && bits[1] === facts[2] ? line : 0;
  }
}

/** A 64-bit print of a row's request, from its hash and its `--repeat` number; `undefined` if the row is not compared with others. */
export function requestPrint(row: Row): { readonly high: number; readonly low: number } | undefined {
  return isCompared(row) ? printOfHash(row) : undefined;
}

function printOfHash({ hash, product }: Row): { readonly high: number; readonly low: number } {
  const high = hashWord(hash, 0);
  return { high: product === undefined ? high : (high ^ product.repeat) >>> 0, low: hashWord(hash, 8) };
}

function isCompared(row: Row): boolean {
  const { redo } = row.columns;
  return row.repeat === undefined && isBought(row) && !(typeof redo === 'string' && redo !== '');
}

/** One line of text for each of the first such rows: `line 7 (id "b") asks for the same as line 3`. */
export function describeSame(rows: SameRows): string[] {
  return described(rows, ({ sameAsLine }) => `asks for the same as line ${sameAsLine}`);
}

/** The same for rows of a redo manifest whose rejected purchase is no longer the latest one. */
export function describeOutdated(rows: SameRows): string[] {
  return described(rows, () => 'rejects a picture that was bought again since');
}

/** The same for requests that were bought before: by this run for a row that left the manifest or has changed, or in other folders. */
export function describeBought(rows: BoughtRows): string[] {
  const where = rows.elsewhere && boughtIn([rows.elsewhere.join(' and ')], rows);
  if (where !== undefined && rows.rows === 0) return [`rows that arrive may ask for what ${where}`];
  const own = described(
    rows,
    ({ boughtAs = '' }) =>
      `asks for what ${where ?? `the run has bought already, for row ${quoteValue(boughtAs)}, which is not in the manifest or has changed`}`,
  );
  return rows.others === undefined ? own : [...own, ...describeBought(rows.others)];
}

function described({ rows, first }: SameRows, what: (row: SameRows['first'][number]) => string): string[] {
  const rest = rows - first.length;
  return [
    ...first.map((row) => stripControls(`line ${row.line} (id ${quoteValue(row.id)}) ${what(row)}`)),
    ...(rest > 0 ? [`and ${rest} more`] : []),
  ];
}

/**
 * A 64-bit hash, in two halves, of the endpoint and request of a row. The order of keys makes no difference. For speed, the
 * request is not turned into text, and only the length and first character of each key are hashed. Different requests may have
 * the same hash, so matches are compared by SHA-256. The object is reused for all rows.
 */
export class RequestFingerprint {
  high = 0;
  low = 0;
  /** Consecutive rows usually have the same endpoint. */
  readonly #last = { endpoint: '', high: 0x9e3779b9, low: 0x85ebca6b };

  of({ endpoint, request, product }: Pick<Row, 'endpoint' | 'request' | 'product'>): this {
    if (endpoint !== this.#last.endpoint) this.#begin(endpoint);
    this.high = this.#last.high;
    this.low = this.#last.low;
    this.#value(request);
    // A repeat of `--repeat` equals only the same repeat of another row.
    if (product !== undefined && product.repeat > 1) this.#mix(product.repeat, 4);
    const high = mixed(this.high);
    const low = mixed(this.low + high);
    this.high = (high + low) >>> 0;
    this.low = low >>> 0;
    return this;
  }

  #begin(endpoint: string): void {
    this.high = 0x9e3779b9;
    this.low = 0x85ebca6b;
    this.#text(endpoint, 0);
    Object.assign(this.#last, { endpoint, high: this.high, low: this.low });
  }

  #value(value: unknown): void {
    if (typeof value === 'string') this.#text(value, 0);
    else if (typeof value !== 'object' || value === null) this.#text(String(value), 1);
    else if (Array.isArray(value)) {
      for (const entry of value) this.#value(entry);
      this.#mix(value.length, 2);
    } else this.#entries(value as Record<string, unknown>);
  }

  /** Adds up the hashes of the entries, so that their order does not matter and no list of keys is created. */
  #entries(object: Record<string, unknown>): void {
    const { high, low } = this;
    let sumHigh = 0;
    let sumLow = 0;
    for (const key in object) {
      this.high = high ^ key.length;
      this.low = low ^ key.charCodeAt(0);
      this.#value(object[key]);
      sumHigh = (sumHigh + Math.imul(this.high ^ (this.high >>> 15), 0x7feb352d)) | 0;
      sumLow = (sumLow + Math.imul(this.low ^ (this.low >>> 16), 0x846ca68b)) | 0;
    }
    this.high = sumHigh;
    this.low = sumLow;
    this.#mix(1, 3);
  }

  /** Hashes two characters at a time. @param type distinguishes a text from a number with the same digits */
  #text(text: string, type: number): void {
    let { high, low } = this;
    const { length } = text;
    for (let at = 0; at < length; at += 2) {
      // Past the end of the text this is NaN, which counts as 0.
      high = Math.imul(high ^ text.charCodeAt(at) ^ (text.charCodeAt(at + 1) << 16), 0xcc9e2d51);
      high = (high << 13) | (high >>> 19);
      low = (((low << 5) | (low >>> 27)) + high) | 0;
    }
    this.high = high;
    this.low = low;
    this.#mix(length, type);
  }

  #mix(length: number, type: number): void {
    this.high = Math.imul(this.high ^ length, 0x85ebca6b) ^ Math.imul(type + 1, 0x1b873593);
    this.low = Math.imul(this.low ^ this.high, 0xc2b2ae35);
  }
}
