import { isDigit } from './values-in-bytes.js';

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const colon = 0x3a;
const openBrace = 0x7b;
const closeBrace = 0x7d;
const openBracket = 0x5b;
const closeBracket = 0x5d;
const blank = 0x20;
const minus = 0x2d;
const plus = 0x2b;
const point = 0x2e;
const zero = 0x30;
const smallE = 0x65;
const largeE = 0x45;
const hexEscape = 0x75;
const escapes: ReadonlySet<number> = new Set(Buffer.from('"\\/bfnrt'));
const words: ReadonlyMap<number, Buffer> = new Map(
  ['true', 'false', 'null'].map((word) => [word.charCodeAt(0), Buffer.from(word)]),
);

/** Bytes without a special meaning in a string. */
const isPlain = new Uint8Array(256).fill(1, blank);
isPlain[quote] = isPlain[backslash] = 0;

/**
 * Walks over JSON values in bytes without creating them. It accepts and refuses exactly what `JSON.parse` does. Each method
 * gets the position where something begins, and returns the position after it, or -1 if it is invalid.
 */
export class JsonWalk {
  protected bytes: Buffer = Buffer.alloc(0);
  protected end = 0;
  /** Whether the last string had a backslash. */
  protected isEscaped = false;
  /** The closing bytes of the containers that are open. */
  private closers = new Uint8Array(64);
  private depth = 0;
  /** The last container is open, and its first value is next. */
  private isInside = false;

  protected value(at: number): number {
    const first = this.bytes[at] ?? 0;
    if (first === quote) return this.string(at);
    return first === openBrace || first === openBracket ? this.container(at) : this.plain(at);
  }

  protected string(at: number): number {
    const { bytes } = this;
    let next = at + 1;
    while (isPlain[bytes[next] ?? 0] === 1) next++;
    this.isEscaped = bytes[next] === backslash;
    while (bytes[next] === backslash) {
      next = this.escape(next);
      while (isPlain[bytes[next] ?? 0] === 1) next++;
    }
    return bytes[next] === quote ? next + 1 : -1;
  }

  protected space(at: number): number {
    const { bytes, end } = this;
    let next = at;
    if ((bytes[next] ?? 0) > blank) return next;
    while (next < end && isSpace(bytes[next] ?? 0)) next++;
    return next;
  }

  /** An object or a list. */
  private container(at: number): number {
    const { bytes } = this;
    this.depth = 0;
    let next = this.enter(at);
    if (this.depth === 0) return next;
    while (next >= 0) {
      const byte = bytes[next] ?? 0;
      if (byte === quote) next = this.string(next);
      else if (byte === openBrace || byte === openBracket) {
        next = this.enter(next);
        if (this.isInside) continue;
      } else next = this.plain(next);
      if (next >= 0) next = this.leave(next);
      if (this.depth === 0) return next;
    }
    return -1;
  }

  private enter(at: number): number {
    const closer = this.bytes[at] === openBrace ? closeBrace : closeBracket;
    const next = this.space(at + 1);
    this.isInside = this.bytes[next] !== closer;
    if (!this.isInside) return next + 1;
    if (this.depth === this.closers.length) this.closers = grown(this.closers);
    this.closers[this.depth++] = closer;
    return closer === closeBrace ? this.key(next) : next;
  }

  /** Before the first value of a container, or after a value of an open one. */
  private leave(at: number): number {
    const { bytes } = this;
    let next = at;
    while (this.depth > 0) {
      next = this.space(next);
      const closer = this.closers[this.depth - 1];
      if (bytes[next] === comma) {
        next = this.space(next + 1);
        return closer === closeBrace ? this.key(next) : next;
      }
      if (bytes[next] !== closer) return -1;
      next++;
      this.depth--;
    }
    return next;
  }

  /** A key and its colon. */
  private key(at: number): number {
    if (this.bytes[at] !== quote) return -1;
    const end = this.string(at);
    if (end < 0) return -1;
    const next = this.space(end);
    return this.bytes[next] === colon ? this.space(next + 1) : -1;
  }

  private plain(at: number): number {
    const first = this.bytes[at] ?? 0;
    if (first <= 0x39) return this.digits(at);
    const word = words.get(first);
    return word !== undefined && isSame(this.bytes, at, at + word.length, word) ? at + word.length : -1;
  }

  /** Returns, for an invalid escape, a position at which no string can continue. */
  private escape(at: number): number {
    const { bytes } = this;
    const sign = bytes[at + 1] ?? 0;
    if (sign !== hexEscape) return escapes.has(sign) ? at + 2 : this.end;
    for (let digit = 2; digit < 6; digit++) if (!isHexDigit(bytes[at + digit] ?? 0)) return this.end;
    return at + 6;
  }

  private digits(at: number): number {
    const { bytes } = this;
    let next = bytes[at] === minus ? at + 1 : at;
    if (bytes[next] === zero) next++;
    else if ((next = this.someDigits(next)) < 0) return -1;
    if (bytes[next] === point && (next = this.someDigits(next + 1)) < 0) return -1;
    if (bytes[next] !== smallE && bytes[next] !== largeE) return next;
    const sign = bytes[next + 1];
    return this.someDigits(sign === minus || sign === plus ? next + 2 : next + 1);
  }

  private someDigits(at: number): number {
    let next = at;
    while (isDigit(this.bytes[next] ?? 0)) next++;
    return next === at ? -1 : next;
  }
}

function grown(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(2 * bytes.length);
  larger.set(bytes);
  return larger;
}

export function isSame(bytes: Buffer, start: number, end: number, name: Buffer): boolean {
  if (end - start !== name.length) return false;
  for (let at = 0; at < name.length; at++) if (bytes[start + at] !== name[at]) return false;
  return true;
}

function isSpace(byte: number): boolean {
  return byte === blank || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

function isHexDigit(byte: number): boolean {
  return isDigit(byte) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
