import type { Disk } from '../../batch/disk/disk.js';
import { readLineBlocks } from '../../batch/disk/read-file.js';
import { openIfThere } from './read-jsonl.js';

/** One record of a CSV file. */
export interface CsvRow {
  /** Where it begins, from 1; the header counts. */
  readonly line: number;
  readonly cells: Readonly<Record<string, string>>;
}

/**
 * The rows of a CSV file by column name, in flat memory; nothing when the file is missing. Takes comma, semicolon or
 * tab, whichever the first line has most of, and quoted cells with line breaks.
 *
 * @param unended Told of the line where a quote is opened that nothing closes; what stands from there on is left out: a
 * run may be writing it just now.
 */
export async function* readCsv(
  disk: Disk,
  path: string,
  unended: (line: number) => void = () => undefined,
): AsyncGenerator<CsvRow, void, void> {
  for await (const { names, rows } of readCsvBlocks(disk, path, unended))
    for (const { line, cells } of rows) yield { line, cells: byName(names, cells) };
}

/** Some thousand rows of a CSV file. */
interface CsvBlock {
  readonly names: readonly string[];
  readonly rows: readonly { readonly line: number; readonly cells: readonly string[] }[];
}

/** The same for millions of rows: some thousand at a time, and no object with names for each. */
export async function* readCsvBlocks(
  disk: Disk,
  path: string,
  unended: (line: number) => void = () => undefined,
): AsyncGenerator<CsvBlock, void, void> {
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  const reader = new RecordReader();
  try {
    for await (const { bytes } of readLineBlocks(file, { chunkBytes }))
      yield reader.blockOf(bytes.toString('utf8'));
    if (reader.isOpen) unended(reader.first);
  } finally {
    await file.close();
  }
}

/** What is made of a block is gone before the collector looks for it. */
const chunkBytes = 64 << 10;

class RecordReader {
  /** Where the last record begins. */
  first = 1;
  private last = 0;
  private record = '';
  private names: readonly string[] | undefined;
  private separator = ',';

  get isOpen(): boolean {
    return this.record !== '';
  }

  blockOf(text: string): CsvBlock {
    const rows: CsvBlock['rows'][number][] = [];
    const lines = text.split('\n');
    if (lines.at(-1) === '') lines.pop();
    for (const line of lines) {
      this.last++;
      if (this.record === '') this.first = this.last;
      this.record += this.record === '' ? line : `\n${line}`;
      if (this.names === undefined) this.separator = separatorOf(this.record);
      const cells = splitRecord(this.record, this.separator);
      if (cells === undefined) continue;
      this.record = '';
      if (this.names === undefined) this.names = cells.map((name) => name.replace(/^\uFEFF/, '').trim());
      else if (cells.length > 1 || cells[0] !== '') rows.push({ line: this.first, cells });
    }
    return { names: this.names ?? [], rows };
  }
}

function separatorOf(header: string): string {
  const count = (separator: string): number => header.split(separator).length;
  return [',', ';', '\t'].reduce((best, separator) => (count(separator) > count(best) ? separator : best));
}

/** `undefined` while a quote is open: the record goes on in the next line. */
function splitRecord(record: string, separator: string): string[] | undefined {
  if (!record.includes('"')) return (record.endsWith('\r') ? record.slice(0, -1) : record).split(separator);
  const cells: string[] = [];
  let at = 0;
  for (;;) {
    const quoted = record[at] === '"';
    const end = quoted ? closingQuote(record, at + 1) : record.indexOf(separator, at);
    if (quoted && end < 0) return undefined;
    const next = quoted ? record.indexOf(separator, end + 1) : end;
    cells.push(
      quoted
        ? record.slice(at + 1, end).replaceAll('""', '"')
        : record.slice(at, end < 0 ? undefined : end).replace(/\r$/, ''),
    );
    if (next < 0) return cells;
    at = next + 1;
  }
}

function closingQuote(record: string, from: number): number {
  for (let at = record.indexOf('"', from); at >= 0; at = record.indexOf('"', at + 2)) {
    if (record[at + 1] !== '"') return at;
  }
  return -1;
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
