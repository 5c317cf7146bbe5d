import { quoteValue } from './quote-value.js';
import type { InvalidRow } from './row.js';
import { stripControls } from './strip-controls.js';

/** A line for people for each problem of a row: `line 7 (row 6, id "x"), column resolution: "8k" is not one of 1k, 2k, 4k`. */
export function describeInvalid({ line, row, id, problems }: InvalidRow): string[] {
  const where = `line ${line} (row ${row}${id === undefined ? '' : `, id ${quoteValue(id)}`})`;
  return problems.map(({ column, message }) =>
    stripControls(`${where}${column === undefined ? '' : `, column ${column}`}: ${message}`),
  );
}
