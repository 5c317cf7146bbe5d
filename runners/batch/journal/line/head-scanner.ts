import { IdHash } from '../../manifest/duplicates/id-hash.js';
import type { JournalRecord } from '../record.js';
import { field, fieldCount, fieldNamed, isFieldAt, keyLength, hexAt } from './record-line.js';

/**
 * Kinds of records, each with the fields after which reading can stop; -1 means that all are read. The most frequent
 * kinds come first.
 */
const kinds: readonly (readonly [kind: JournalRecord['k'], enough: number])[] = [
  ['intent', -1],
  ['accepted', bitsOf(field.id, field.jobId)],
  ['reply', bitsOf(field.id, field.cost, field.source)],
  ['outcome', -1],
  ['refused', -1],
  ['reopen', -1],
  ['freed', -1],
];

/**
 * Numbers with more digits are not added up digit by digit, because that would not be exact; nor are negative or
 * fractional ones.
 */
const exactDigits = 15;
/** No kind has a longer name. */
const kindLengths = 16;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const firstOfNull = 0x6e;

/**
 * Reads the small fields at the front of a record directly from its bytes, up to the first object or list (except that
 * it reads `error`). It creates no objects and almost no strings, because a resumed run may read four million records.
 * One scanner is reused for all records, and expects after each field the one that followed it last time.
 */
export class HeadScanner {
  readonly id = new IdHash();
  /** The record's `k`. */
  kind = '';
  private readonly other = new IdHash();
  /** The position of each value, without quotes. Valid if `seen` has the field's bit. */
  private readonly starts = new Int32Array(fieldCount);
  private readonly ends = new Int32Array(fieldCount);
  private seen = 0;
  private bytes: Buffer = Buffer.alloc(0);
  private start = 0;
  private end = 0;
  /** The field that followed last, by the length of the record's kind and by the field before it. */
  private readonly followers = new Uint8Array(kindLengths * (fieldCount + 1)).fill(fieldCount);
  private kindLength = 0;
  private valueAt = 0;

  /** Reads the head of `bytes[start, end)`, a record with the right checksum. Returns false if it is not a record. */
  scan(bytes: Buffer, start: number, end: number): boolean {
    this.bytes = bytes;
    this.start = start;
    this.end = end;
    this.seen = 0;
    this.kindLength = 0;
    let wanted = -1;
    let place = fieldCount;
    let at = start + 1;
    while (at < end && bytes[at] === quote) {
      place = this.fieldAt(at + 1, place);
      at = this.valueAt;
      const first = bytes[at];
      if (first === openBrace && place === field.error) at++;
      else if (first === openBrace || first === openBracket) break;
      else {
        const isText = first === quote;
        const valueEnd = isText ? endOfText(bytes, ++at, end) : endOfBare(bytes, at, end);
        if (place !== fieldCount) this.keep(place, at, valueEnd);
        if (place === field.k) wanted = this.wanted();
        if ((wanted & ~this.seen) === 0) break;
        at = valueEnd + (isText ? 2 : 1);
      }
    }
    return this.has(field.n) && this.has(field.k);
  }

  /** Whether `id` now holds the hash of the record's id. */
  get hasId(): boolean {
    return this.has(field.id);
  }

  /** The hash of a text field; `undefined` if the field is missing. Valid until the next call. */
  hashOf(place: number): IdHash | undefined {
    if (!this.has(place)) return undefined;
    return hashed(this.other, this.bytes, { start: this.starts[place] ?? 0, end: this.ends[place] ?? 0 });
  }

  /** The bytes of the whole record. Valid as long as the scanned bytes. */
  get line(): Buffer {
    return this.bytes.subarray(this.start, this.end);
  }

  /**
   * The word in a field: one of `words` if it matches, which needs no new string, or else the text as it is. Empty if
   * the field is missing.
   */
  word<W extends string>(place: number, words: readonly W[] = []): W {
    if (!this.has(place)) return '' as W;
    const start = this.starts[place] ?? 0;
    const end = this.ends[place] ?? start;
    for (const word of words) if (isWord(this.bytes, start, end, word)) return word;
    return this.bytes.toString('latin1', start, end) as W;
  }

  /** The number in a field; NaN if it is missing or `null`. */
  number(place: number): number {
    if (!this.has(place)) return Number.NaN;
    const start = this.starts[place] ?? 0;
    const end = this.ends[place] ?? 0;
    if (this.bytes[start] === firstOfNull) return Number.NaN;
    if (end - start > exactDigits) return Number(this.bytes.toString('latin1', start, end));
    let value = 0;
    for (let i = start; i < end; i++) {
      const digit = (this.bytes[i] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return Number(this.bytes.toString('latin1', start, end));
      value = value * 10 + digit;
    }
    return value;
  }

  /** The first eight hex digits of a field, as a number; 0 if it has none. */
  bits(place: number): number {
    return this.has(place) ? Math.max(hexAt(this.bytes, this.starts[place] ?? 0), 0) : 0;
  }

  private has(place: number): boolean {
    return (this.seen & (1 << place)) !== 0;
  }

  /** The field whose name begins at `at`. Sets `valueAt` to the beginning of its value. */
  private fieldAt(at: number, before: number): number {
    const { bytes } = this;
    const slot = this.kindLength * (fieldCount + 1) + before;
    const guess = this.followers[slot] ?? fieldCount;
    if (isFieldAt(bytes, at, guess)) {
      this.valueAt = at + keyLength(guess);
      return guess;
    }
    const nameEnd = endOfText(bytes, at, this.end);
    this.valueAt = nameEnd + 2;
    const place = fieldNamed(bytes, at, nameEnd);
    this.followers[slot] = place;
    return place;
  }

  private keep(place: number, start: number, end: number): void {
    this.starts[place] = start;
    this.ends[place] = end;
    this.seen |= 1 << place;
    if (place !== field.id) return;
    hashed(this.id, this.bytes, { start, end });
  }

  /** Reads the kind. Returns the fields that must have been seen before reading can stop; -1 for all. */
  private wanted(): number {
    const start = this.starts[field.k] ?? 0;
    const end = this.ends[field.k] ?? 0;
    this.kindLength = (end - start) % kindLengths;
    for (const [kind, enough] of kinds)
      if (isWord(this.bytes, start, end, kind)) {
        this.kind = kind;
        return enough;
      }
    this.kind = this.bytes.toString('latin1', start, end);
    return -1;
  }
}

function bitsOf(...places: number[]): number {
  return places.reduce((bits, place) => bits | (1 << place), 0);
}

/** The position of the closing quote. */
function endOfText(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/** The position after a number, `null`, `true` or `false`. */
function endOfBare(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== comma && bytes[at] !== closeBrace) at++;
  return at;
}

/** Hashes the text between quotes. */
function hashed(hash: IdHash, bytes: Buffer, { start, end }: { start: number; end: number }): IdHash {
  if (hash.ofPlain(bytes, start, end)) return hash;
  return hash.ofText(JSON.parse(bytes.toString('utf8', start - 1, end + 1)) as string);
}

function isWord(bytes: Buffer, start: number, end: number, word: string): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word.charCodeAt(i)) return false;
  return true;
}
