import { IdHash } from '../../manifest/ids/id-hash.js';
import { hexAt } from './hex-at.js';

/** Fields that recovery needs; whatever else a head holds is passed over. */
const names = [
  ...['n', 'k', 'id', 'row', 'hash', 'attempt', 'price', 'kind', 'endpoint', 'resolution'],
  ...['cost', 'source', 'status', 'statusCalls', 'to', 'why', 'error', 'code', 'takes'],
] as const;
const places = new Map(names.map((name, place) => [name as string, place]));
const [numberPlace, kindPlace, idPlace, errorPlace] = ['n', 'k', 'id', 'error'].map(placeOf) as [
  number,
  number,
  number,
  number,
];

/** Longer numbers are not added up digit by digit: that would not be exact. */
const exactDigits = 15;

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;

/**
 * Reads the small fields at the front of a record straight from its bytes, up to the first object or list (it looks into
 * `error`), and makes no object and next to no string: four million records pass in a resume. One scanner is used again
 * and again.
 */
export class HeadScanner {
  readonly id = new IdHash();
  /** Where each value lies, quotes left out; -1 where it is missing. */
  private readonly starts = new Int32Array(names.length);
  private readonly ends = new Int32Array(names.length);
  private bytes: Buffer = Buffer.alloc(0);

  /** Reads the head of `bytes[start, end)`, a record with the right checksum. False where it is no record after all. */
  scan(bytes: Buffer, start: number, end: number): boolean {
    this.bytes = bytes;
    this.starts.fill(-1);
    let at = start + 1;
    while (at < end && bytes[at] === quote) {
      const nameStart = at + 1;
      at = endOfText(bytes, nameStart, end);
      const place = knownPlace(bytes, nameStart, at);
      at += 2;
      const first = bytes[at];
      if (first === openBrace && place === errorPlace) at++;
      else if (first === openBrace || first === openBracket) break;
      else {
        const isText = first === quote;
        const valueEnd = isText ? endOfText(bytes, ++at, end) : endOfBare(bytes, at, end);
        if (place >= 0) this.keep(place, at, valueEnd);
        at = valueEnd + (isText ? 2 : 1);
      }
    }
    return this.has(numberPlace) && this.has(kindPlace);
  }

  /** Whether `id` now holds the hash of the record's id. */
  get hasId(): boolean {
    return this.has(idPlace);
  }

  /** The word that the field holds: one of `words`, without making a string, or else as it stands. Empty where it is missing. */
  word<W extends string>(name: string, words: readonly W[] = []): W {
    const place = placeOf(name);
    const start = this.starts[place] ?? -1;
    if (start < 0) return '' as W;
    const end = this.ends[place] ?? start;
    for (const word of words) if (isWord(this.bytes, start, end, word)) return word;
    return this.bytes.toString('latin1', start, end) as W;
  }

  /** A number; NaN where it is missing or `null`. */
  number(name: string): number {
    const place = placeOf(name);
    const start = this.starts[place] ?? -1;
    const end = this.ends[place] ?? -1;
    if (end - start > exactDigits) return oddNumber(this.bytes.toString('latin1', start, end));
    let value = start < 0 ? Number.NaN : 0;
    for (let i = start; i >= 0 && i < end; i++) {
      const digit = (this.bytes[i] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return oddNumber(this.bytes.toString('latin1', start, end));
      value = value * 10 + digit;
    }
    return value;
  }

  /** The first eight hex digits of a field, as a number; 0 where it has none. */
  bits(name: string): number {
    const start = this.starts[placeOf(name)] ?? -1;
    return start < 0 ? 0 : Math.max(hexAt(this.bytes, start), 0);
  }

  private has(place: number): boolean {
    return (this.starts[place] ?? -1) >= 0;
  }

  private keep(place: number, start: number, end: number): void {
    this.starts[place] = start;
    this.ends[place] = end;
    if (place !== idPlace) return;
    if (isPlain(this.bytes, start, end)) this.id.ofAscii(this.bytes, start, end);
    else this.id.ofText(JSON.parse(this.bytes.toString('utf8', start - 1, end + 1)) as string);
  }
}

function placeOf(name: string): number {
  return places.get(name) ?? -1;
}

/** Where the closing quote is. */
function endOfText(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== quote) at += bytes[at] === backslash ? 2 : 1;
  return at;
}

/** Behind a number, `null`, `true` or `false`. */
function endOfBare(bytes: Buffer, start: number, end: number): number {
  let at = start;
  while (at < end && bytes[at] !== comma && bytes[at] !== closeBrace) at++;
  return at;
}

/** Text that is its own code units: ASCII without an escape. */
function isPlain(bytes: Buffer, start: number, end: number): boolean {
  for (let i = start; i < end; i++) if (bytes[i] === backslash || (bytes[i] ?? 0) > 0x7f) return false;
  return true;
}

function isWord(bytes: Buffer, start: number, end: number, word: string): boolean {
  if (end - start !== word.length) return false;
  for (let i = 0; i < word.length; i++) if (bytes[start + i] !== word.charCodeAt(i)) return false;
  return true;
}

/** Negative, with a point or an exponent, long, or `null`. */
function oddNumber(text: string): number {
  return text === 'null' ? Number.NaN : Number(text);
}

/** First letter, last letter and length tell the known names apart. */
function keyOf(first: number | undefined, last: number | undefined, length: number): number {
  return (first ?? 0) | ((last ?? 0) << 8) | (length << 16);
}

const placesByKey = new Map<number, number>(
  names.map((name, place) => [
    keyOf(name.charCodeAt(0), name.charCodeAt(name.length - 1), name.length),
    place,
  ]),
);

function knownPlace(bytes: Buffer, start: number, end: number): number {
  const place = placesByKey.get(keyOf(bytes[start], bytes[end - 1], end - start));
  return place !== undefined && isWord(bytes, start, end, names[place] ?? '') ? place : -1;
}
