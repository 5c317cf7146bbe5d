import { CsvError } from 'csv-parse';
import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { quoteValue } from '../quote-value.js';
import { checkHeader, csvShape, delimiterName } from './csv-shape.js';
import { CsvCollector } from './csv-collector.js';
import { CsvStretches, splitCsv, type CsvLine } from './split-csv.js';
import { feed } from './feed.js';
import { maxRecordBytes, type RawRecord } from './raw-record.js';
import { countLineBreaks } from './text-guard.js';

const options = {
  record_delimiter: ['\r\n', '\n', '\r'],
  skip_empty_lines: true,
  relax_column_count: true,
  max_record_size: maxRecordBytes,
};

type CsvSettings = Pick<ManifestSettings, 'name' | 'map' | 'delimiter' | 'separatedBy'>;

/**
 * CSV text → its rows. The first line names the columns. Empty lines, and lines of nothing but commas as spreadsheets
 * leave them, are no rows. Throws `ManifestError` where quotes or the header are wrong.
 */
export async function* parseCsv(
  chunks: AsyncIterable<Buffer>,
  settings: CsvSettings,
): AsyncGenerator<RawRecord[]> {
  const source = chunks[Symbol.asyncIterator]();
  const head = await headOf(source);
  const { delimiter, skippedBytes } = csvShape(head, settings);
  if (delimiter !== ',') settings.separatedBy?.(delimiterName(delimiter).many);
  const reader = new CsvReader(delimiter, skippedBytes > 0 ? 2 : 1, settings.name);
  let names: readonly string[] | undefined;
  try {
    for await (const lines of reader.read(withHead(head.subarray(skippedBytes), source))) {
      if (names === undefined) names = checkHeader(lines.shift() as CsvLine, settings);
      yield toRecords(lines, names, delimiter);
    }
  } catch (error) {
    throw error instanceof CsvError ? explain(error, reader.line, names, settings.name) : error;
  }
  if (names === undefined)
    throw new ManifestError(settings.name, 'holds only empty lines: its first line has to name the columns');
}

const headBytes = 65_536;

/** The beginning of a text: two whole lines, or the most bytes that a header may have. */
async function headOf(chunks: AsyncIterator<Buffer>): Promise<Buffer> {
  const held: Uint8Array[] = [];
  let size = 0;
  let breaks = 0;
  while (size < headBytes && breaks < 2) {
    const next = await chunks.next();
    if (next.done === true) break;
    held.push(next.value);
    size += next.value.length;
    breaks += countLineBreaks(next.value);
  }
  return Buffer.concat(held);
}

async function* withHead(head: Buffer, rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** The first chunk of a long row may hold the row before it, too. */
const slackBytes = 65_536;

/** Far more than a header may name. */
const maxCells = 100_000;

/** Reads the lines of a CSV: those that end in a chunk at a time. */
class CsvReader {
  /** Where the next record begins, or the one that is wrong. */
  line: number;
  readonly #stretches: CsvStretches;

  constructor(
    private readonly delimiter: string,
    firstLine: number,
    private readonly name: string,
  ) {
    this.line = firstLine;
    this.#stretches = new CsvStretches(delimiter);
  }

  async *read(chunks: AsyncIterable<Buffer>): AsyncGenerator<CsvLine[]> {
    for await (const chunk of chunks) {
      const stretch = this.#stretches.take(chunk);
      if (stretch.length > 0) yield* this.#linesOf(stretch);
      if (this.#stretches.openCells > maxCells) throw tooManyCells(this.name, this.line);
      if (this.#stretches.openBytes <= maxRecordBytes + slackBytes) continue;
      yield* this.#parsed(this.#stretches.rest());
      throw tooLong(this.name, this.line);
    }
    const rest = this.#stretches.rest();
    if (rest.length > 0) yield* this.#linesOf(rest);
  }

  async *#linesOf(stretch: Buffer): AsyncGenerator<CsvLine[]> {
    const split = this.#mayBeLarge(stretch)
      ? undefined
      : splitCsv(stretch.toString(), this.delimiter, this.line);
    if (split === undefined) {
      yield* this.#parsed(stretch);
      return;
    }
    this.line = split.nextLine;
    if (split.records.length > 0) yield split.records;
  }

  /** Whether a record of it may be longer, or have more cells, than csv-parse is asked to take. */
  #mayBeLarge(stretch: Buffer): boolean {
    if (stretch.length <= maxCells) return false;
    return (
      stretch.length > maxRecordBytes ||
      stretch.toString().split(this.delimiter, maxCells).length === maxCells
    );
  }

  /** By csv-parse, which says what is wrong with it. */
  async *#parsed(stretch: Buffer): AsyncGenerator<CsvLine[]> {
    const parser = new CsvCollector({ ...options, delimiter: this.delimiter }, this.line);
    try {
      yield* feed(boundCells(stretch, parser, this.name), parser, () => parser.takeBatch());
    } finally {
      this.line = parser.openLine;
    }
  }
}

/** csv-parse limits the text of a record but not the number of its commas: 10 MB of commas would take 300 MB of memory. */
async function* boundCells(text: Buffer, parser: CsvCollector, name: string): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < text.length; at += slackBytes) {
    if (parser.openCells > maxCells) throw tooManyCells(name, parser.openLine);
    yield text.subarray(at, at + slackBytes);
    await Promise.resolve();
  }
}

function toRecords(lines: readonly CsvLine[], names: readonly string[], delimiter: string): RawRecord[] {
  const records: RawRecord[] = [];
  for (const { line, cells } of lines) {
    if (cells.length === names.length) {
      if (cells.every((cell) => cell === '')) continue;
      records.push(isHeader(cells, names) ? repeated(line, names) : { line, names, values: cells });
    } else records.push(ragged(line, cells, names, delimiter));
  }
  return records;
}

/** Where files were concatenated, their header lines stand among the rows. */
function isHeader(cells: readonly string[], names: readonly string[]): boolean {
  return (
    (cells[0] === names[0] || cells[0] === `\ufeff${names[0] ?? ''}`) &&
    cells.every((cell, at) => at === 0 || cell === names[at])
  );
}

function repeated(line: number, names: readonly string[]): RawRecord {
  return {
    line,
    names,
    values: [...names],
    problem: { message: 'repeats the first line, the names of the columns' },
  };
}

/** It cannot be known which cell is missing or extra, so none of them is used. */
function ragged(line: number, cells: string[], names: readonly string[], delimiter: string): RawRecord {
  const counts = `has ${cells.length} ${cells.length === 1 ? 'cell' : 'cells'}, the first line names ${names.length} columns`;
  const { length } = names;
  if (cells.length < length)
    return {
      line,
      names,
      values: cells,
      problem: {
        column: names[cells.length] ?? '',
        message: `${counts}; here and behind it cells are missing`,
      },
    };
  const extra = `cell ${length + 1} (${quoteValue(cells[length])}) has no column; put a cell that holds ${delimiterName(delimiter).one} in quotes`;
  return { line, names, values: cells, problem: { message: `${counts}: ${extra}` } };
}

function explain(
  error: CsvError,
  line: number,
  names: readonly string[] | undefined,
  name: string,
): ManifestError {
  if (error.code === 'CSV_MAX_RECORD_SIZE') return tooLong(name, line);
  const column = typeof error.column === 'number' ? error.column + 1 : undefined;
  const label = column === undefined ? undefined : (names?.[column - 1] ?? '');
  return new ManifestError(name, quoteProblems[error.code] ?? error.message, {
    line,
    ...(column !== undefined && { column, columnLabel: `column ${column}${label ? ` (${label})` : ''}` }),
    cause: error,
  });
}

const asDoubled = 'inside quotes, write a quote as ""';

const quoteProblems: Partial<Record<string, string>> = {
  CSV_QUOTE_NOT_CLOSED: `the row that begins here opens a quote that is never closed; ${asDoubled}`,
  CSV_INVALID_CLOSING_QUOTE: `in the row that begins here, text follows a closing quote; ${asDoubled}`,
  INVALID_OPENING_QUOTE: `in the row that begins here, a quote stands inside a cell that does not begin with one; put the whole cell in quotes, and ${asDoubled}`,
};

function tooLong(name: string, line: number): ManifestError {
  return new ManifestError(
    name,
    'the row that begins here is longer than 10 MB; a quote may be missing, or the file is no CSV',
    { line },
  );
}

function tooManyCells(name: string, line: number): ManifestError {
  return new ManifestError(name, `the row that begins here has more than ${maxCells} cells`, { line });
}
