import { hasGoodChecksum } from './decode-record.js';

/** A whole record inside other bytes. */
export interface Salvaged {
  readonly start: number;
  readonly end: number;
}

const opening = '{"n":';
const closing = ',"c":"';
const closingBytes = 16;

/** The whole records in bytes that are no proper line, from the first to the last. */
export function* salvage(bytes: Buffer): Generator<Salvaged> {
  let start = bytes.indexOf(opening);
  while (start >= 0) {
    const end = looksLikeHead(bytes, start) ? endOfRecord(bytes, start) : -1;
    if (end >= 0) yield { start, end };
    start = bytes.indexOf(opening, end >= 0 ? end : start + 1);
  }
}

function endOfRecord(bytes: Buffer, start: number): number {
  for (let at = bytes.indexOf(closing, start); at >= 0; at = bytes.indexOf(closing, at + 1)) {
    const end = at + closingBytes;
    if (end <= bytes.length && hasGoodChecksum(bytes, start, end)) return end;
  }
  return -1;
}

/** A row's own content may hold `{"n":` as well, but hardly with a number and `"k"` behind it. */
function looksLikeHead(bytes: Buffer, start: number): boolean {
  return /^\{"n":\d{1,16},"k":"/.test(bytes.toString('latin1', start, Math.min(start + 32, bytes.length)));
}
