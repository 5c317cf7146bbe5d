import type { Disk } from '../../batch/disk/disk.js';
import { readLineBlocks } from '../../batch/disk/read-file.js';
import { CsvRecord, newline } from './csv-record.js';
import { openIfThere } from './read-jsonl.js';

/** One record of a CSV file. */
export interface CsvRow {
  /** Where it begins, from 1; the header counts. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/**
 * The rows of a CSV file by column name, in flat memory; nothing when the file is missing. The separator is that of a
 * first line `sep=;`, as Excel writes it, else the comma, semicolon or tab that the header has most. Quoted cells may
 * hold line breaks.
 *
 * @param unended called with the line of a quote that nothing closes; the rest of the file is left out, because a run
 *   may be writing it
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
 * As above, for millions of rows: a cell that nobody reads is not created.
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
  /** The one that a first line names. */
  private separator: string | undefined;
  private readonly record = new CsvRecord();
  private bytes: Buffer = Buffer.alloc(0);
  /** The start of a record that continues in the next block. */
  private open: Buffer = Buffer.alloc(0);
  /** Blocks behind it that have not been looked at. */
  private waiting: Buffer[] = [];
  private waitingBytes = 0;

  isOpen(): boolean {
    return this.open.length > 0;
  }

  /** A block of whole lines. One that goes on with a record waits until as much has come: each is looked at a few times at most. */
  add(block: Buffer): void {
    this.bytes = this.isOpen() ? nothing : block;
    if (!this.isOpen()) return;
    this.waiting.push(Buffer.from(block));
    this.waitingBytes += block.length;
    if (this.waitingBytes >= this.open.length) this.addWaiting();
  }

  /** What waits behind an open record is looked at. */
  addWaiting(): void {
    this.bytes = Buffer.concat([this.open, ...this.waiting]);
    this.open = nothing;
    this.waiting = [];
    this.waitingBytes = 0;
  }

  /** Its records, except an unfinished last one. */
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

/** Of a record that ends there: one, and one for each line break in its cells. */
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
