import { stringify } from 'csv-stringify/sync';
import { unwritable } from './line-json.js';

/**
 * One line of a CSV file with its newline. What is absent is an empty cell; objects and lists are JSON. Text that a
 * spreadsheet would take for a formula is escaped.
 */
export function csvLine(cells: readonly unknown[]): string {
  const texts = cells.map((cell) =>
    typeof cell === 'string' || typeof cell === 'number' ? cell : asText(cell),
  );
  return stringify([texts], { escape_formulas: true, record_delimiter: '\n' });
}

function asText(cell: unknown): string {
  return cell === undefined || cell === null ? '' : typeof cell === 'boolean' ? String(cell) : jsonCell(cell);
}

/** A cell as deep as that is of no use in a spreadsheet. */
function jsonCell(cell: unknown): string {
  try {
    return JSON.stringify(cell);
  } catch (cause) {
    return unwritable(cause);
  }
}
