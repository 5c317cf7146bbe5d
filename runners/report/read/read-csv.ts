import type { Disk } from '../../batch/disk/disk.js';
import { readLines } from '../../batch/disk/read-lines.js';
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
  const file = await openIfThere(disk, path);
  if (file === undefined) return;
  try {
    let names: string[] | undefined;
    let separator = ',';
    let record = '';
    let [last, first] = [0, 1];
    for await (const line of readLines(file)) {
      last++;
      if (record === '') first = last;
      record += (record === '' ? '' : '\n') + line.bytes.toString('utf8');
      if (names === undefined) separator = separatorOf(record);
      const cells = splitRecord(record, separator);
      if (cells === undefined) continue;
      record = '';
      if (names === undefined) names = cells.map((name) => name.replace(/^\uFEFF/, '').trim());
      else if (cells.length > 1 || cells[0] !== '') yield { line: first, cells: byName(names, cells) };
    }
    if (record !== '') unended(first);
  } finally {
    await file.close();
  }
}

function separatorOf(header: string): string {
  const count = (separator: string): number => header.split(separator).length;
  return [',', ';', '\t'].reduce((best, separator) => (count(separator) > count(best) ? separator : best));
}

/** `undefined` while a quote is open: the record goes on in the next line. */
function splitRecord(record: string, separator: string): string[] | undefined {
  if (!record.includes('"')) return record.replace(/\r$/, '').split(separator);
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
  return Object.fromEntries(names.map((name, index) => [name, cells[index] ?? '']));
}
