import type { IsoTimes } from './iso-time.js';
import { plainNumber, Texts } from './values-in-bytes.js';

const quote = 0x22;
const carriageReturn = 0x0d;
export const newline = 0x0a;

/** A record of a CSV file, in the file's bytes. A cell is created when it is read; a missing cell is empty. */
export class CsvRecord {
  /** The line where it begins, from 1; the header counts. */
  line = 0;
  count = 0;
  private bytes: Buffer = Buffer.alloc(0);
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  private readonly texts = new Texts();
  private separatorByte = 0;

  set separator(sign: string) {
    this.separatorByte = sign.charCodeAt(0);
  }

  get isEmpty(): boolean {
    return this.count === 1 && this.starts[0] === this.ends[0];
  }

  /** Reads the record that begins at `start`. Returns where its last line ends, or -1 if a quote is open at the end of the bytes. */
  split(bytes: Buffer, start: number): number {
    const { separatorByte } = this;
    const { length } = bytes;
    this.bytes = bytes;
    this.count = 0;
    for (let at = start; ; at++) {
      const isQuoted = bytes[at] === quote;
      const close = isQuoted ? closingQuote(bytes, at + 1) : at;
      if (close < 0) return -1;
      let next = close;
      while (next < length && bytes[next] !== separatorByte && bytes[next] !== newline) next++;
      const isLast = next === length || bytes[next] === newline;
      if (isQuoted) this.add(at + 1, close);
      else this.add(at, isLast && next > at && bytes[next - 1] === carriageReturn ? next - 1 : next);
      if (isLast) return next;
      at = next;
    }
  }

  text(place: number): string {
    const [start, end] = this.extentOf(place);
    const text = this.texts.of(this.bytes, start, end);
    const isQuoted = start > 0 && this.bytes[start - 1] === quote;
    return isQuoted ? text.replaceAll('""', '"') : text;
  }

  /** The cell as a `Number`: an empty cell is 0, a missing column NaN. */
  number(place: number): number {
    if (place < 0) return Number.NaN;
    const [start, end] = this.extentOf(place);
    const plain = plainNumber(this.bytes, start, end);
    return Number.isNaN(plain) ? Number(this.text(place)) : plain;
  }

  /** The cell's time in ms since the epoch; NaN if it is not a time. */
  time(place: number, times: IsoTimes): number {
    const [start, end] = this.extentOf(place);
    const plain = times.plain(this.bytes, start, end);
    return Number.isNaN(plain) ? Date.parse(this.text(place)) : plain;
  }

  hash(place: number): number {
    const [start, end] = this.extentOf(place);
    let hash = 0;
    for (let at = start; at < end; at++) hash = (Math.imul(hash, 31) + (this.bytes[at] ?? 0)) | 0;
    return hash;
  }

  private extentOf(place: number): readonly [start: number, end: number] {
    const isThere = place >= 0 && place < this.count;
    return isThere ? [this.starts[place] ?? 0, this.ends[place] ?? 0] : [0, 0];
  }

  private add(start: number, end: number): void {
    this.starts[this.count] = start;
    this.ends[this.count++] = end;
  }
}

/** The position of the closing quote, or -1. Two quotes stand for one in the text. */
function closingQuote(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(quote, from); at >= 0; at = bytes.indexOf(quote, at + 2))
    if (bytes[at + 1] !== quote) return at;
  return -1;
}
