import { countBreaks, type CsvLine } from './csv-collector.js';

const quote = 0x22;
const lineFeed = 0x0a;
const carriageReturn = 0x0d;

/** A row of more bytes is left to csv-parse. */
const longestBytes = 1 << 16;

/**
 * Splits plain CSV text into the same cells as csv-parse, in a tenth of the time. It stops before a row that is too long, has
 * no final line break, or has misplaced quotes that csv-parse must report: csv-parse reads the `rest`.
 */
export class PlainCsv {
  /** The text that is not split yet. Valid until more of it is split. */
  rest: Buffer = Buffer.alloc(0);
  /** The memory that contains `rest`; the next chunk of text is added after it. */
  #held: Buffer = Buffer.alloc(0);
  readonly #delimiter: number;
  #isPlain: boolean;
  /** Where the latest row ends, and whether one of its cells has line breaks. */
  #end = 0;
  #hasBreaks = false;

  /** @param line 1-based line of the file where `rest` begins */
  constructor(
    delimiter: string,
    public line: number,
  ) {
    this.#delimiter = delimiter.charCodeAt(0);
    const isByte = delimiter.length === 1 && this.#delimiter < 0x80;
    this.#isPlain = isByte && ![quote, lineFeed, carriageReturn].includes(this.#delimiter);
  }

  /** The rows, in one batch for each chunk of text in which some end. Does not close `text`. */
  async *lines(text: AsyncIterator<Uint8Array>): AsyncGenerator<CsvLine[]> {
    while (this.#isPlain) {
      const next = await text.next();
      if (next.done === true) return;
      const batch = this.#split(this.#joined(next.value));
      if (batch.length > 0) yield batch;
    }
  }

  /** The rest and the next chunk, in the same memory as before, which is possible because cells are copies. */
  #joined(more: Uint8Array): Buffer {
    const { rest } = this;
    const length = rest.length + more.length;
    if (length > this.#held.length) this.#held = Buffer.allocUnsafeSlow(2 * length);
    rest.copy(this.#held);
    this.#held.set(more, rest.length);
    return this.#held.subarray(0, length);
  }

  #split(bytes: Buffer): CsvLine[] {
    const batch: CsvLine[] = [];
    let at = this.#afterBreaks(bytes, 0);
    for (let cells = this.#rowAt(bytes, at); cells !== undefined; cells = this.#rowAt(bytes, at)) {
      batch.push({ line: this.line, cells });
      if (this.#hasBreaks) this.line += countBreaks(cells);
      at = this.#afterBreaks(bytes, this.#end);
    }
    this.rest = bytes.subarray(at);
    this.#isPlain &&= this.rest.length < longestBytes;
    return batch;
  }

  /** The position after a row's line break and empty lines. */
  #afterBreaks(bytes: Buffer, start: number): number {
    let at = start;
    while (bytes[at] === lineFeed || (bytes[at] === carriageReturn && at + 1 < bytes.length)) {
      at += bytes[at] === carriageReturn && bytes[at + 1] === lineFeed ? 2 : 1;
      this.line++;
    }
    return at;
  }

  /** The cells of the row at `start`; `undefined` if it does not end here, or is not plain. */
  #rowAt(bytes: Buffer, start: number): string[] | undefined {
    const cells: string[] = [];
    this.#hasBreaks = false;
    for (let at = start; ;) {
      const isQuoted = bytes[at] === quote;
      const end = isQuoted ? this.#closingQuote(bytes, at + 1) : this.#endOfCell(bytes, at);
      const behind = isQuoted ? end + 1 : end;
      const sign = bytes[behind];
      // The byte after a `\r` must be known.
      if (sign === undefined || (sign === carriageReturn && behind + 1 === bytes.length)) return undefined;
      this.#isPlain = sign === this.#delimiter || sign === lineFeed || sign === carriageReturn;
      if (!this.#isPlain) return undefined;
      cells.push(isQuoted ? unquoted(bytes.toString('utf8', at + 1, end)) : bytes.toString('utf8', at, end));
      this.#end = behind;
      if (sign !== this.#delimiter) return cells;
      at = behind + 1;
    }
  }

  #endOfCell(bytes: Buffer, start: number): number {
    let at = start;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === this.#delimiter || byte === lineFeed || byte === carriageReturn || byte === quote) break;
    }
    return at;
  }

  #closingQuote(bytes: Buffer, start: number): number {
    let at = start;
    for (; at < bytes.length; at++) {
      const byte = bytes[at];
      if (byte === lineFeed || byte === carriageReturn) this.#hasBreaks = true;
      if (byte !== quote) continue;
      if (bytes[at + 1] !== quote) break;
      at++;
    }
    return at;
  }
}

function unquoted(text: string): string {
  return text.includes('"') ? text.replaceAll('""', '"') : text;
}
