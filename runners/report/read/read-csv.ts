import type { Disk } from '../../batch/disk/disk.js';
import { readLineBlocks } from '../../batch/disk/read-file.js';
import { CsvRecord, newline } from './csv-record.js';
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
  for await (const reader of csvBlocks(disk, path, unended)) {
    const rows: CsvRow[] = [];
    reader.take((record, names) => rows.push({ line: record.line, cells: byName(names, record) }));
    yield* rows;
  }
}

/**
 * Like `readCsv`, for millions of rows: a cell that nobody reads is not created.
 *
 * @param take called with the same object for all records, which is valid until the next call. Column names never
 *   change.
 */
export async function scanCsv(disk: Disk, path: string, take: TakeRecord): Promise<void> {
  for await (const reader of csvBlocks(disk, path)) reader.take(take);
}

type TakeRecord = (record: CsvRecord, names: readonly string[]) => void;

async function* csvBlocks(
  disk: Disk,
  path: string,
  unended: (line: number) => void = () => undefined,
): AsyncGenerator<RecordReader, void, void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  const reader = new RecordReader();
  try {
    for await (const { bytes } of readLineBlocks(file)) {
      reader.add(bytes);
      yield reader;
    }
    if (!reader.isOpen()) return;
    reader.addWaiting();
    yield reader;
    if (reader.isOpen()) unended(reader.line);
  } finally {
    await file.close();
  }
}

class RecordReader {
  /** Where the next record begins. */
  line = 1;
  private names: readonly string[] | undefined;
  /** The separator that a first line names. */
  private separator: string | undefined;
  private readonly record = new CsvRecord();
  private bytes: Buffer = Buffer.alloc(0);
  /** The start of a record that continues in the next block. */
  private open: Buffer = Buffer.alloc(0);
  /** Blocks after it that are not split yet. */
  private waiting: Buffer[] = [];
  private waitingBytes = 0;

  isOpen(): boolean {
    return this.open.length > 0;
  }

  /**
   * Adds a block of whole lines. A block that continues a record waits until the bytes have doubled, so that each is split only
   * a few times.
   */
  add(block: Buffer): void {
    this.bytes = this.isOpen() ? nothing : block;
    if (!this.isOpen()) return;
    this.waiting.push(Buffer.from(block));
    this.waitingBytes += block.length;
    if (this.waitingBytes >= this.open.length) this.addWaiting();
  }

  /** Splits the blocks that wait after an open record. */
  addWaiting(): void {
    this.bytes = Buffer.concat([this.open, ...this.waiting]);
    this.open = nothing;
    this.waiting = [];
    this.waitingBytes = 0;
  }

  /** Passes on its records, except an unfinished last one. */
  take(take: TakeRecord): void {
    const { record, bytes } = this;
    for (let start = 0; start < bytes.length;) {
      if (this.names === undefined) {
        const text = bytes.toString('utf8', start, lineEnd(bytes, start));
        const [, named] = (this.line === 1 && sepLine.exec(text)) || [];
        if (named !== undefined) this.separator = named;
        record.separator = this.separator ?? separatorOf(text);
        if (named !== undefined) {
          this.line++;
          start = lineEnd(bytes, start) + 1;
          continue;
        }
      }
      const end = record.split(bytes, start);
      if (end < 0) {
        this.open = Buffer.from(bytes.subarray(start));
        return;
      }
      record.line = this.line;
      this.line += linesIn(bytes, start, end);
      start = end + 1;
      if (this.names === undefined) this.names = namesOf(record);
      else if (!record.isEmpty) take(record, this.names);
    }
  }
}

const nothing: Buffer = Buffer.alloc(0);
const sepLine = /^\uFEFF?"?sep=([,;|\t])"?\r?$/i;

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

function namesOf(header: CsvRecord): string[] {
  return Array.from({ length: header.count }, (_, place) =>
    header
      .text(place)
      .replace(/^\uFEFF/, '')
      .trim(),
  );
}

function byName(names: readonly string[], record: CsvRecord): Record<string, string> {
  const row: Record<string, string> = {};
  for (let place = 0; place < names.length; place++) {
    const name = names[place] ?? '';
    const cell = record.text(place);
    if (name === '__proto__') Object.defineProperty(row, name, { value: cell, enumerable: true });
    else row[name] = cell;
  }
  return row;
}
