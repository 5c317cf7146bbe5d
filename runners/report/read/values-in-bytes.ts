const mostBytes = 4;
const mostTexts = 256;

/**
 * Texts from bytes, with a cache: kinds and resolutions are the same in many lines, and creating such a text takes
 * ten times as long as finding it.
 */
export class Texts {
  private readonly known = new Map<number, string>();

  /** The text of `bytes[start, end)`. */
  of(bytes: Buffer, start: number, end: number): string {
    if (end - start > mostBytes) return bytes.toString('utf8', start, end);
    // Up to four bytes are packed into one number, preceded by their count if there are fewer.
    let key = end - start === mostBytes ? 0 : end - start + 1;
    for (let at = start; at < end; at++) key = (key << 8) | (bytes[at] ?? 0);
    const known = this.known.get(key);
    if (known !== undefined) return known;
    if (this.known.size >= mostTexts) this.known.clear();
    const text = bytes.toString('utf8', start, end);
    this.known.set(key, text);
    return text;
  }
}

const point = 0x2e;
const zero = 0x30;
/** Longer numbers are not added up digit by digit, which would not be exact. */
const exactDigits = 15;

/** The number in `bytes[start, end)`; NaN unless it is a short number of digits and at most one point. */
export function plainNumber(bytes: Buffer, start: number, end: number): number {
  if (end - start > exactDigits || !isDigit(bytes[start] ?? 0)) return Number.NaN;
  let value = 0;
  let scale = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0;
    const digit = byte - zero;
    if (byte === point && scale === 0) scale = 1;
    else if (digit < 0 || digit > 9) return Number.NaN;
    else {
      value = value * 10 + digit;
      scale *= 10;
    }
  }
  // Both are exact integers, so the quotient is the double nearest to the written number.
  return scale === 0 ? value : value / scale;
}

export function isDigit(byte: number): boolean {
  return byte >= zero && byte <= 0x39;
}
