import { ManifestError } from '../manifest-error.js';
import type { ManifestSettings } from '../manifest-settings.js';
import { quoteValue } from '../quote-value.js';
import type { CsvLine } from './csv-collector.js';

const maxColumns = 10_000;

/** The names of a CSV's columns. Each must be there, be told from the others, and be fit for a key. */
export function checkHeader(
  header: CsvLine,
  settings: Pick<ManifestSettings, 'name' | 'map'>,
): readonly string[] {
  const { line, cells } = header;
  const fail = (problem: string, at?: number): never => {
    throw new ManifestError(settings.name, problem, { line, ...(at !== undefined && { column: at + 1 }) });
  };
  if (cells.length > maxColumns) fail(`names ${cells.length} columns; at most ${maxColumns} are read`);
  cells.forEach((name, at) => {
    const problem = nameProblem(name, cells.indexOf(name), at);
    if (problem !== undefined) fail(problem, at);
  });
  for (const [field, column] of Object.entries(settings.map ?? {}))
    if (!cells.includes(column))
      fail(`--map ${field}=${column}: there is no column ${quoteValue(column)}, only ${cells.join(', ')}`);
  return cells;
}

function nameProblem(name: string, first: number, at: number): string | undefined {
  if (name.trim() === '') return 'the column has no name; name it, or take away the separator too many';
  if (name === '__proto__') return 'a column cannot be called "__proto__"; rename it';
  return first === at
    ? undefined
    : `${quoteValue(name)} is the name of column ${first + 1} too; rename one of them`;
}
