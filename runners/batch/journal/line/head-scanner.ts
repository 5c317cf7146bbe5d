import { IdHash } from '../rows/id-hash.js';

/** Fields that recovery needs; whatever else a head holds is passed over. */
const names = [
  ...['n', 'k', 'id', 'row', 'hash', 'attempt', 'price', 'resolution', 'cost', 'source', 'status'],
  ...['statusCalls', 'to', 'why', 'error', 'code', 'kind', 'endpoint'],
] as const;
type Name = (typeof names)[number];

const quote = 0x22;
const backslash = 0x5c;
const colon = 0x3a;
const comma = 0x2c;
const openBrace = 0x7b;
const openBracket = 0x5b;

/**
 * Reads the small fields at the front of a record straight from its bytes, up to the first object or list, and makes no
 * object and next to no string: four million records pass in a resume. One scanner is used again and again.
 */
export class HeadScanner {
  readonly id = new IdHash();
  private readonly starts = new Map<Name, number>();
  private readonly ends = new Map<Name, number>();
  private bytes: Buffer = Buffer.alloc(0);
  private position = 0;
  private plain = true;

  /** Reads the head of `bytes[start, end)`, a record with the right checksum. False where it is no record after all. */
  scan(bytes: Buffer, start: number, end: number): boolean {
    this.bytes = bytes;
    this.position = start + 1;
    this.starts.clear();
    this.ends.clear();
    while (this.position < end && this.field()) if (bytes[this.position] === comma) this.position++;
    return this.has('n') && this.has('k');
  }

  has(name: Name): boolean {
    return this.starts.has(name);
  }

  /** A text without its quotes; the empty string where it is missing. Escapes stand as they are. */
  text(name: Name): string {
    const start = this.starts.get(name);
    return start === undefined ? '' : this.bytes.toString('latin1', start, this.ends.get(name));
  }

  /** A number; NaN where it is missing or `null`. */
  number(name: Name): number {
    const start = this.starts.get(name);
    if (start === undefined) return Number.NaN;
    const end = this.ends.get(name) ?? start;
    let value = 0;
    for (let i = start; i < end; i++) {
      const digit = (this.bytes[i] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) return this.oddNumber(start, end);
      value = value * 10 + digit;
    }
    return value;
  }

  /** Negative, with a point or an exponent, or `null`. */
  private oddNumber(start: number, end: number): number {
    const text = this.bytes.toString('latin1', start, end);
    return text === 'null' ? Number.NaN : Number(text);
  }

  /** One name with its value; false at the end of the head. */
  private field(): boolean {
    if (this.bytes[this.position] !== quote) return false;
    const nameStart = ++this.position;
    this.toQuote();
    const name = this.known(nameStart, this.position++);
    if (this.bytes[this.position++] !== colon) return false;
    const first = this.bytes[this.position];
    if (first === openBrace && name === 'error') return this.bytes[++this.position] === quote;
    if (first === openBrace || first === openBracket) return false;
    if (first === quote) this.textValue(name);
    else this.bareValue(name);
    return true;
  }

  private textValue(name: Name | undefined): void {
    const start = ++this.position;
    this.toQuote();
    const end = this.position++;
    if (name === undefined) return;
    this.starts.set(name, start);
    this.ends.set(name, end);
    if (name === 'id') this.hashId(start, end);
  }

  private bareValue(name: Name | undefined): void {
    const start = this.position;
    while (this.position < this.bytes.length && !endsBare(this.bytes[this.position])) this.position++;
    if (name === undefined) return;
    this.starts.set(name, start);
    this.ends.set(name, this.position);
  }

  private hashId(start: number, end: number): void {
    if (this.plain) this.id.ofAscii(this.bytes, start, end);
    else this.id.ofText(JSON.parse(this.bytes.toString('utf8', start - 1, end + 1)) as string);
  }

  /** Moves to the closing quote, and notes whether all before it was plain ASCII. */
  private toQuote(): void {
    this.plain = true;
    let byte = this.bytes[this.position];
    while (byte !== quote && byte !== undefined) {
      if (byte === backslash) this.position++;
      if (byte === backslash || byte > 0x7f) this.plain = false;
      byte = this.bytes[++this.position];
    }
  }

  private known(start: number, end: number): Name | undefined {
    const name = byKey.get(keyOf(this.bytes[start], this.bytes[end - 1], end - start));
    if (name === undefined) return undefined;
    for (let i = 0; i < name.length; i++) if (this.bytes[start + i] !== name.charCodeAt(i)) return undefined;
    return name;
  }
}

/** First letter, last letter and length tell the known names apart. */
function keyOf(first: number | undefined, last: number | undefined, length: number): number {
  return (first ?? 0) | ((last ?? 0) << 8) | (length << 16);
}

const byKey = new Map<number, Name>(
  names.map((name) => [keyOf(name.charCodeAt(0), name.charCodeAt(name.length - 1), name.length), name]),
);

function endsBare(byte: number | undefined): boolean {
  return byte === comma || byte === 0x7d || byte === undefined;
}
