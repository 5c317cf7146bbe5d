import type { InvalidRow, RowProblem } from './manifest-row.js';
import { firstOf, quoteValue, stripControls } from './quote-value.js';

/** A problem of one row, or of many rows that differ only in values. */
export interface InvalidProblem {
  /** The first row that has it, with only its problems of this kind. */
  readonly first: Pick<InvalidRow, 'row' | 'line' | 'id' | 'problems'>;
  readonly rows: number;
  /** The first 20 lines that have it, each once, because axes make many rows from one line. */
  readonly lines: readonly number[];
}

const groupsKept = 100;
const linesKept = 20;

/** Groups the problems of invalid rows: those that differ only in quoted values and numbers are one problem. */
export class ProblemTally {
  readonly #groups = new Map<
    string,
    InvalidProblem & { first: { problems: RowProblem[] }; rows: number; lines: number[] }
  >();
  #others = 0;

  add({ row, line, id, problems }: InvalidRow): void {
    const seen = new Set<string>();
    for (const problem of problems) {
      const key = keyOf(problem);
      const known = this.#groups.get(key);
      if (known?.first.row === row) known.first.problems.push(problem);
      else if (known !== undefined) {
        if (seen.has(key)) continue;
        known.rows++;
        if (known.lines.length < linesKept && known.lines.at(-1) !== line) known.lines.push(line);
      } else if (this.#groups.size < groupsKept) {
        const first = { row, line, ...(id !== undefined && { id }), problems: [problem] };
        this.#groups.set(key, { first, rows: 1, lines: [line] });
      } else this.#others++;
      seen.add(key);
    }
  }

  /** The first 100 kinds of problems, and the number of problems of further kinds. */
  result(): { readonly problems: readonly InvalidProblem[]; readonly otherProblems: number } {
    return { problems: [...this.#groups.values()], otherProblems: this.#others };
  }
}

function keyOf({ column = '', message }: RowProblem): string {
  return `${column}\n${message.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\d+/g, '0')}`;
}

/** One line of text for each problem of a row: `line 7 (row 6, id "x"), column resolution: "8k" is not one of 1k, 2k, 4k`. */
export function describeInvalid({
  line,
  row,
  id,
  problems,
}: Pick<InvalidRow, 'line' | 'row' | 'id' | 'problems'>): string[] {
  const where = `line ${line} (row ${row}${id === undefined ? '' : `, id ${quoteValue(id)}`})`;
  return problems.map(({ column, message }) => stripControls(`${where}${placeOf(column)}: ${message}`));
}

/** An axis is named by its option: the manifest has no such column. */
function placeOf(column: string | undefined): string {
  if (column === undefined) return '';
  return column.startsWith('--each ') ? `, ${column}` : `, column ${column}`;
}

/** The same for a problem of many rows: the first row in full, and the line numbers of the next ones. */
export function describeProblem({ first, rows, lines }: InvalidProblem): string[] {
  const described = describeInvalid(first);
  if (rows === 1) return described;
  const others = rows === 2 ? '1 other row' : `${rows - 1} other rows`;
  const are = rows === 2 ? 'is' : 'are';
  if (lines.length === 1) return [...described, `  ${others} of this line ${are} like it`];
  const isCut = lines.length === linesKept && rows > linesKept;
  // If some line has more than one of these rows, the first line may have others too, so it is named as well.
  const named = rows === lines.length || isCut ? lines.slice(1) : lines;
  const where = `${named.length === 1 ? 'line' : 'lines'} ${firstOf(named, isCut ? rows : named.length)}`;
  return [...described, `  ${others} ${are} like it: ${where}`];
}
