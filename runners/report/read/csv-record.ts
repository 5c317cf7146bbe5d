import type { IsoTimes } from './iso-time.js';
import { plainNumber, Texts } from './values-in-bytes.js';

const quote = 0x22;
const carriageReturn = 0x0d;

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

  /** The line is empty. */
  get isEmpty(): boolean {
    return this.count === 1 && this.starts[0] === this.ends[0];
  }

  /** Reads the record in `bytes[start, end)`. False: a quote is open at its end. */
  split(bytes: Buffer, start: number, end: number): boolean {
    const { separatorByte } = this;
    this.bytes = bytes;
    this.count = 0;
    for (let at = start; ; at++) {
      const isQuoted = at < end && bytes[at] === quote;
      const close = isQuoted ? closingQuote(bytes, at + 1, end) : at;
      if (close < 0) return false;
      let next = close;
      while (next < end && bytes[next] !== separatorByte) next++;
      if (isQuoted) this.add(at + 1, close);
      else this.add(at, next === end && next > at && bytes[next - 1] === carriageReturn ? next - 1 : next);
      if (next === end) return true;
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

  /** The cell's time in ms since the epoch; NaN when it is not a time. */
  time(place: number, times: IsoTimes): number {
    const [start, end] = this.extentOf(place);
    const plain = times.plain(this.bytes, start, end);
    return Number.isNaN(plain) ? Date.parse(this.text(place)) : plain;
  }

  /** A hash of the cell. */
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

/** The position of a quote; -1: none. Two quotes stand for one in the text. */
function closingQuote(bytes: Buffer, from: number, end: number): number {
  for (let at = from; at < end; at++) {
    if (bytes[at] !== quote) continue;
    if (at + 1 === end || bytes[at + 1] !== quote) return at;
    at++;
  }
  return -1;
}
