import { stringify } from 'csv-stringify/sync';

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
  return cell === undefined || cell === null
    ? ''
    : typeof cell === 'boolean'
      ? String(cell)
      : JSON.stringify(cell);
}
