import { quoteValue } from './quote-value.js';
import type { InvalidProblem } from './problem-tally.js';
import type { InvalidRow } from './row.js';
import { stripControls } from './strip-controls.js';

/** A line for people for each problem of a row: `line 7 (row 6, id "x"), column resolution: "8k" is not one of 1k, 2k, 4k`. */
export function describeInvalid({
  line,
  row,
  id,
  problems,
}: Pick<InvalidRow, 'line' | 'row' | 'id' | 'problems'>): string[] {
  const where = `line ${line} (row ${row}${id === undefined ? '' : `, id ${quoteValue(id)}`})`;
  return problems.map(({ column, message }) =>
    stripControls(`${where}${column === undefined ? '' : `, column ${column}`}: ${message}`),
  );
}

/** The same of a problem that many rows may have: the first of them in full, and the lines of the first others. */
export function describeProblem({ first, rows, lines }: InvalidProblem): string[] {
  const told = describeInvalid(first);
  if (rows === 1) return told;
  const [, ...others] = lines;
  const more = rows > lines.length ? ', …' : '';
  const are = rows === 2 ? '1 other row is like it: line' : `${rows - 1} other rows are like it: lines`;
  return [...told, `  ${are} ${others.join(', ')}${more}`];
}
