import type { ManifestSettings } from '../manifest-settings.js';

/** Where a line begins before which all rows have ended: a manifest can be read from here on. */
export interface SectionStart {
  /** In bytes. */
  readonly at: number;
  /** 1-based. */
  readonly line: number;
}

/** Lines of a manifest that a reading leaves out. */
export interface LeftOut {
  /** The first byte of them, and the one behind them. */
  readonly from: number;
  readonly to: number;
  /** The first line of them. */
  readonly line: number;
  readonly lines: number;
  /** How many rows they hold. */
  readonly rows: number;
}

const largestSection = 1 << 16;
const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Cuts a manifest into sections of whole rows while its bytes pass: the first line, then sections as long as all before them, of 64 kB at
 * most. In a CSV that csv-parse takes, a line end within a cell is one behind an odd number of quotes. What is packed stays whole.
 */
export class SectionFinder {
  readonly starts: SectionStart[] = [];
  readonly #isCsv: boolean;
  readonly #isPacked: boolean;
  #at = 0;
  #line = 1;
  #isQuoted = false;
  #last = 0;
  /** A section ends at the first line end from here on. */
  #wanted = 0;

  constructor({ format, gzip }: Pick<ManifestSettings, 'format' | 'gzip'>) {
    this.#isCsv = format === 'csv';
    this.#isPacked = gzip;
  }

  take(bytes: Uint8Array): void {
    if (this.#isPacked) return;
    for (let index = 0; index < bytes.length; index++) {
      const byte = bytes[index];
      if (byte === quote) this.#isQuoted = this.#isCsv && !this.#isQuoted;
      else if (byte === carriageReturn) this.#line++;
      else if (byte === lineFeed) {
        if (this.#last !== carriageReturn) this.#line++;
        if (!this.#isQuoted && this.#at + index >= this.#wanted) this.#start(this.#at + index + 1);
      }
      this.#last = byte ?? 0;
    }
    this.#at += bytes.length;
  }

  #start(at: number): void {
    this.starts.push({ at, line: this.#line });
    this.#wanted = at + Math.min(at, largestSection);
  }
}

/** Which lines and rows of the file stand before a row, where some were left out before it was read. */
export class LeftOutBefore {
  /** Lines that were left out so far. */
  lines = 0;
  #next = 0;

  constructor(private readonly leftOut: readonly LeftOut[]) {}

  /** How many rows were left out just before a line. Called with each line, in order, as it is counted without them. */
  rowsAt(line: number): number {
    let rows = 0;
    for (let out = this.leftOut[this.#next]; out !== undefined; out = this.leftOut[++this.#next]) {
      if (line + this.lines < out.line) break;
      this.lines += out.lines;
      rows += out.rows;
    }
    return rows;
  }
}
