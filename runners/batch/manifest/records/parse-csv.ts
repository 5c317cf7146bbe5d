import { finished } from 'node:stream';
import { CsvError } from 'csv-parse';
import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { quoteValue } from '../quote-value.js';
import { checkHeader, csvShape, delimiterName } from './csv-shape.js';
import { CsvCollector, type CsvLine } from './csv-collector.js';
import { PlainCsv } from './plain-csv.js';
import { maxRecordBytes, type RawRecord } from './raw-record.js';
import { countLineBreaks } from './text-guard.js';

const options = {
  record_delimiter: ['\r\n', '\n', '\r'],
  skip_empty_lines: true,
  relax_column_count: true,
  max_record_size: maxRecordBytes,
};

/**
 * The rows of CSV text. The first line names the columns. Empty lines, and lines of only commas as spreadsheets leave them, are
 * not rows. Throws `ManifestError` if quotes or the header are wrong.
 */
export async function* parseCsv(
  chunks: AsyncIterable<Uint8Array>,
  settings: Pick<ManifestSettings, 'name' | 'map' | 'delimiter' | 'separatedBy'>,
): AsyncGenerator<RawRecord[]> {
  const source = chunks[Symbol.asyncIterator]();
  const head = await headOf(source);
  const { delimiter, skippedBytes } = csvShape(head, settings);
  if (delimiter !== ',') settings.separatedBy?.(delimiterName(delimiter).many);
  const text = withHead(head.subarray(skippedBytes), source);
  const plain = new PlainCsv(delimiter, skippedBytes > 0 ? 2 : 1);
  const parser = new CsvCollector({ ...options, delimiter });
  let names: readonly string[] | undefined;
  try {
    for await (const lines of linesOf(text, { plain, parser, name: settings.name })) {
      if (lines.length === 0) continue;
      names ??= checkHeader(lines.shift() as CsvLine, lines, settings);
      yield toRecords(lines, names, delimiter);
    }
  } catch (error) {
    throw error instanceof CsvError ? explain(error, parser.openLine, names, settings.name) : error;
  }
  if (names === undefined)
    throw new ManifestError(settings.name, 'holds only empty lines: its first line has to name the columns');
}

async function* linesOf(
  text: AsyncGenerator<Uint8Array>,
  { plain, parser, name }: { readonly plain: PlainCsv; readonly parser: CsvCollector; readonly name: string },
): AsyncGenerator<CsvLine[]> {
  try {
    yield* plain.lines(text);
    parser.beginAt(plain.line);
    yield* feed(boundRecords(withHead(plain.rest, text), parser, name), parser);
  } finally {
    await text.return(undefined);
  }
}

/** Writes chunks to the parser, and yields the records of each. The next chunk is pulled when these are used up: nothing waits in a queue. */
async function* feed(chunks: AsyncIterable<Uint8Array>, parser: CsvCollector): AsyncGenerator<CsvLine[]> {
  // `write` and `end` return the error.
  parser.on('error', () => undefined);
  try {
    for await (const chunk of chunks) {
      const error = await new Promise<Error | null | undefined>((resolve) => parser.write(chunk, resolve));
      yield parser.takeBatch();
      if (error) throw error;
    }
    const error = await new Promise<Error | null | undefined>((resolve) => {
      finished(parser, { readable: false }, resolve);
      parser.end();
    });
    yield parser.takeBatch();
    if (error) throw error;
  } finally {
    parser.destroy();
  }
}

const headBytes = 65_536;

/** The beginning of a text: two whole lines, or as many bytes as a header may have. */
async function headOf(chunks: AsyncIterator<Uint8Array>): Promise<Buffer> {
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

async function* withHead(head: Buffer, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    if (head.length > 0) yield head;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  } finally {
    await rest.return?.();
  }
}

/** The first chunk of a long row may contain the row before it as well. */
const slackBytes = 65_536;

const maxCells = 100_000;

/** Limits the cells of a record: csv-parse limits only its text, and 10 MB of commas would take 300 MB of memory. */
async function* boundRecords(
  chunks: AsyncIterable<Uint8Array>,
  parser: CsvCollector,
  name: string,
): AsyncGenerator<Uint8Array> {
  let line = 0;
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes = parser.openLine === line ? bytes + chunk.length : chunk.length;
    line = parser.openLine;
    if (bytes > maxRecordBytes + slackBytes) throw tooLong(name, line);
    if (parser.openCells > maxCells)
      throw new ManifestError(name, `the row that begins here has more than ${maxCells} cells`, { line });
    yield chunk;
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

/** Whether a line is the header again, as in concatenated files. */
function isHeader(cells: readonly string[], names: readonly string[]): boolean {
  return (
    cells[0]?.replace(/^\ufeff/, '') === names[0] && cells.every((cell, at) => at === 0 || cell === names[at])
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

/** A line with too few or too many cells. None is used, because nobody knows which one is missing or extra. */
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
  const orDelete = cells[length] === '' ? 'delete the empty column in the spreadsheet, or ' : '';
  const extra = `cell ${length + 1} (${quoteValue(cells[length])}) has no column; ${orDelete}put a cell that holds ${delimiterName(delimiter).one} in quotes`;
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
    'the row that begins here is longer than 10 MB; a quote may be missing, or the file is not a CSV',
    { line },
  );
}
