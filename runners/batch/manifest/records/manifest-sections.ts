import type { ManifestSettings } from '../manifest-settings.js';

/** The beginning of a line at which no row is open, so that a manifest can be read from here. */
export interface SectionStart {
  /** In bytes. */
  readonly at: number;
  /** 1-based. */
  readonly line: number;
}

/** Lines of a manifest that are skipped. */
export interface LeftOut {
  /** The first byte of them, and the byte after them. */
  readonly from: number;
  readonly to: number;
  /** Their first line. */
  readonly line: number;
  readonly lines: number;
  readonly rows: number;
}

const largestSection = 1 << 16;
const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/**
 * Finds sections of whole rows as a manifest's bytes pass: the first line, then sections as long as everything before them, at
 * most 64 kB. In a valid CSV, a line end after an odd number of quotes is inside a cell. A packed manifest is one section.
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

/** Counts the skipped lines and rows before a row, so that it keeps its numbers in the file. */
export class LeftOutBefore {
  /** Lines that were skipped so far. */
  lines = 0;
  #next = 0;

  constructor(private readonly leftOut: readonly LeftOut[]) {}

  /**
   * The number of rows that were skipped directly before a line. Call this with each line, in order; its number does not count
   * skipped lines.
   */
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
