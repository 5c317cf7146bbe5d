import type { Disk } from '../../batch/disk/disk.js';
import { readLineBlocks } from '../../batch/disk/read-file.js';
import { openIfThere } from './read-jsonl.js';

export interface CsvRow {
  /** Where it begins, from 1; the header counts. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/**
 * The rows of a CSV file by column name, in constant memory; nothing if the file is missing. The separator is that of a first
 * line `sep=;`, as Excel writes it, or else the most frequent of comma, semicolon and tab in the header. Quoted cells may
 * contain line breaks.
 *
 * @param unended called with the line of a quote that is never closed; the rest of the file is skipped, because a run may be
 *   writing it
 */
export async function* readCsv(
  disk: Disk,
  path: string,
  unended: (line: number) => void = () => undefined,
): AsyncGenerator<CsvRow, void, void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  const reader = new RowReader();
  try {
    for await (const { bytes } of readLineBlocks(file)) yield* reader.take(bytes);
    yield* reader.takeRest();
    if (reader.isOpen) unended(reader.line);
  } finally {
    await file.close();
  }
}

class RowReader {
  /** Where the next row begins. */
  line = 1;
  #names: readonly string[] | undefined;
  #separator: string | undefined;
  /** The start of a row that continues in the next blocks, and those blocks. */
  #waiting: Buffer[] = [];

  get isOpen(): boolean {
    return this.#waiting.length > 0;
  }

  /**
   * The rows that end in a block of whole lines. A block that continues a row waits until the bytes have doubled, so that each
   * is split only a few times.
   */
  take(block: Buffer): CsvRow[] {
    const [open] = this.#waiting;
    if (open === undefined) return this.#split(block);
    this.#waiting.push(Buffer.from(block));
    const bytes = this.#waiting.reduce((sum, { length }) => sum + length, 0);
    return bytes >= 2 * open.length ? this.takeRest() : [];
  }

  /** The rows in the blocks that wait. */
  takeRest(): CsvRow[] {
    const bytes = Buffer.concat(this.#waiting);
    this.#waiting = [];
    return this.#split(bytes);
  }

  #split(bytes: Buffer): CsvRow[] {
    const rows: CsvRow[] = [];
    for (let start = 0; start < bytes.length;) {
      const text = this.#names === undefined ? bytes.toString('utf8', start, lineEnd(bytes, start)) : '';
      const named = this.line === 1 ? sepLine.exec(text)?.[1] : undefined;
      this.#separator ??= named ?? separatorOf(text);
      if (named !== undefined) {
        this.line++;
        start = lineEnd(bytes, start) + 1;
        continue;
      }
      const record = recordAt(bytes, start, this.#separator.charCodeAt(0));
      if (record === undefined) {
        this.#waiting = [Buffer.from(bytes.subarray(start))];
        break;
      }
      const { cells, end } = record;
      if (this.#names === undefined) this.#names = cells.map((name) => name.replace(/^\uFEFF/, '').trim());
      else if (cells.length > 1 || cells[0] !== '')
        rows.push({ line: this.line, cells: byName(this.#names, cells) });
      this.line += linesIn(bytes, start, end);
      start = end + 1;
    }
    return rows;
  }
}

const quote = 0x22;
const carriageReturn = 0x0d;
const newline = 0x0a;
const sepLine = /^\uFEFF?"?sep=([,;|\t])"?\r?$/i;

/** The cells of the record that begins at `start`, and where its last line ends; `undefined` if a quote is open at the end of the bytes. */
function recordAt(
  bytes: Buffer,
  start: number,
  separator: number,
): { cells: string[]; end: number } | undefined {
  const cells: string[] = [];
  for (let at = start; ; at++) {
    const isQuoted = bytes[at] === quote;
    const close = isQuoted ? closingQuote(bytes, at + 1) : at;
    if (close < 0) return undefined;
    let end = close;
    while (end < bytes.length && bytes[end] !== separator && bytes[end] !== newline) end++;
    const isLast = end === bytes.length || bytes[end] === newline;
    const isCut = isLast && end > at && bytes[end - 1] === carriageReturn;
    if (isQuoted) cells.push(bytes.toString('utf8', at + 1, close).replaceAll('""', '"'));
    else cells.push(bytes.toString('utf8', at, isCut ? end - 1 : end));
    if (isLast) return { cells, end };
    at = end;
  }
}

/** The position of the closing quote, or -1. Two quotes stand for one in the text. */
function closingQuote(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(quote, from); at >= 0; at = bytes.indexOf(quote, at + 2))
    if (bytes[at + 1] !== quote) return at;
  return -1;
}

/** The number of lines of a record: one, and one for each line break in its cells. */
function linesIn(bytes: Buffer, start: number, end: number): number {
  let lines = 1;
  for (let at = lineEnd(bytes, start); at < end; at = lineEnd(bytes, at + 1)) lines++;
  return lines;
}

function lineEnd(bytes: Buffer, from: number): number {
  const at = bytes.indexOf(newline, from);
  return at < 0 ? bytes.length : at;
}

function separatorOf(header: string): string {
  const count = (separator: string): number => header.split(separator).length;
  return [',', ';', '\t'].reduce((best, separator) => (count(separator) > count(best) ? separator : best));
}

function byName(names: readonly string[], cells: readonly string[]): Record<string, string> {
  const row: Record<string, string> = {};
  for (let place = 0; place < names.length; place++) {
    const name = names[place] ?? '';
    const cell = cells[place] ?? '';
    if (name === '__proto__') Object.defineProperty(row, name, { value: cell, enumerable: true });
    else row[name] = cell;
  }
  return row;
}
