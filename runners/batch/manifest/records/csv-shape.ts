import { isFieldName } from '../columns/manifest-fields.js';
import { pathColumn } from '../columns/path-column.js';
import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { quoteValue } from '../quote-value.js';
import type { CsvLine } from './csv-collector.js';

export interface CsvShape {
  readonly delimiter: string;
  /** The length in bytes of a first line that only names the separator (`sep=;`, as Excel writes it), which is not a row. */
  readonly skippedBytes: number;
}

interface DelimiterName {
  readonly one: string;
  readonly many: string;
}

/** Separators to try if none is given. European spreadsheets save with semicolons. */
const delimiters = [',', ';', '\t'];
const names: Readonly<Record<string, DelimiterName>> = {
  ',': { one: 'a comma', many: 'commas' },
  ';': { one: 'a semicolon', many: 'semicolons' },
  '\t': { one: 'a tab', many: 'tabs' },
  '|': { one: 'a bar', many: 'bars' },
};
const sepLine = /^"?sep=(.)"?(?:\r\n|\r|\n|$)/i;

/**
 * Finds the separator of a CSV: that of a first line `sep=…`, or the one that splits the header into most known names, or a
 * comma.
 *
 * @param head its beginning, with the whole header
 */
export function csvShape(
  head: Buffer,
  { delimiter, map = {} }: { readonly delimiter?: string; readonly map?: Readonly<Record<string, string>> },
): CsvShape {
  const text = head.toString('utf8');
  const [line = '', named] = sepLine.exec(text) ?? [];
  const skippedBytes = Buffer.byteLength(line);
  if (delimiter !== undefined || named !== undefined)
    return { delimiter: delimiter ?? named ?? ',', skippedBytes };
  const isKnown = knownNames(map);
  let best = { delimiter: ',', known: -1, cells: 0 };
  for (const candidate of delimiters) {
    const cells = headerCells(text, candidate);
    const known = cells.filter(isKnown).length;
    const isBetter = known > best.known || (known === best.known && best.cells === 1 && cells.length > 1);
    if (isBetter) best = { delimiter: candidate, known, cells: cells.length };
  }
  return { delimiter: best.delimiter, skippedBytes };
}

function knownNames(map: Readonly<Record<string, string>> = {}): (name: string) => boolean {
  const mapped = new Set(Object.values(map));
  return (name) => isFieldName(name) || typeof pathColumn(name) === 'object' || mapped.has(name);
}

export function delimiterName(delimiter: string): DelimiterName {
  return names[delimiter] ?? { one: `"${delimiter}"`, many: `"${delimiter}"` };
}

/** The cells, without quotes, of the first line that is not empty. */
function headerCells(text: string, delimiter: string): string[] {
  const cells: string[] = [];
  let cell = '';
  let isQuoted = false;
  for (const sign of text) {
    const isBreak = (sign === '\n' || sign === '\r') && !isQuoted;
    if (isBreak && (cells.length > 0 || cell !== '')) break;
    if (sign === '"') isQuoted = !isQuoted;
    else if (sign === delimiter && !isQuoted) {
      cells.push(cell);
      cell = '';
    } else if (!isBreak) cell += sign;
  }
  return [...cells, cell];
}

const maxColumns = 10_000;

/**
 * Checks the names of a CSV's columns: each must be present, unique, and usable as a key.
 *
 * @param below the lines that follow
 * @throws {ManifestError}
 */
export function checkHeader(
  header: CsvLine,
  below: readonly CsvLine[],
  settings: Pick<ManifestSettings, 'name' | 'map'>,
): readonly string[] {
  const { line, cells } = header;
  const fail = (problem: string, at?: number): never => {
    throw new ManifestError(settings.name, problem, { line, ...(at !== undefined && { column: at + 1 }) });
  };
  if (cells.length > maxColumns) fail(`names ${cells.length} columns; at most ${maxColumns} are read`);
  const meant = headerBelow(cells, below, settings);
  if (meant !== undefined)
    fail(
      `line ${meant.line} looks like the names of the columns; delete what stands above it in the spreadsheet, and export it again (Numbers: without table names)`,
    );
  cells.forEach((name, at) => {
    const problem = nameProblem(name, cells.indexOf(name), at);
    if (problem !== undefined) fail(problem, at);
  });
  for (const [field, column] of Object.entries(settings.map ?? {}))
    if (!cells.includes(column))
      fail(`--map ${field}=${column}: there is no column ${quoteValue(column)}, only ${cells.join(', ')}`);
  return cells;
}

/** Lines after the first among which the header is looked for: a title and a few remarks may stand above it. */
const linesAbove = 10;

/** The line that names the columns, if the first one is only a title above it. */
function headerBelow(
  cells: readonly string[],
  below: readonly CsvLine[],
  { map }: Pick<ManifestSettings, 'map'>,
): CsvLine | undefined {
  const isKnown = knownNames(map);
  if (cells.some(isKnown)) return undefined;
  // The separator was looked for in the title.
  const cellsOf = (line: CsvLine): readonly string[] =>
    line.cells.length === 1 ? (line.cells[0] ?? '').split(/[;\t]/) : line.cells;
  return below.slice(0, linesAbove).find((line) => cellsOf(line).filter(isKnown).length > 1);
}

const noName =
  'the column has no name; name it, or delete the whole column in the spreadsheet (to empty its cells is not enough), or remove the extra separator';

function nameProblem(name: string, first: number, at: number): string | undefined {
  if (name.trim() === '') return noName;
  if (name === '__proto__') return 'a column cannot be called "__proto__"; rename it';
  return first === at
    ? undefined
    : `${quoteValue(name)} is the name of column ${first + 1} too; rename one of them`;
}
