import type { InvalidRow, RowProblem } from './manifest-row.js';
import { quoteValue, stripControls } from './quote-value.js';

/** A problem, of one row or of many that differ in values alone. */
export interface InvalidProblem {
  /** The first row that has it, with this problem alone. */
  readonly first: Pick<InvalidRow, 'row' | 'line' | 'id' | 'problems'>;
  /** How many rows have it. */
  readonly rows: number;
  /** Lines of the first 20 of them. */
  readonly lines: readonly number[];
}

const groupsKept = 100;
const linesKept = 20;

/** Gathers the problems of invalid rows: those that differ in quoted values and numbers alone are one. */
export class ProblemTally {
  readonly #groups = new Map<string, { first: InvalidProblem['first']; rows: number; lines: number[] }>();
  #others = 0;

  add({ row, line, id, problems }: InvalidRow): void {
    for (const problem of problems) {
      const key = keyOf(problem);
      const known = this.#groups.get(key);
      if (known !== undefined) {
        known.rows++;
        if (known.lines.length < linesKept) known.lines.push(line);
      } else if (this.#groups.size < groupsKept) {
        const first = { row, line, ...(id !== undefined && { id }), problems: [problem] };
        this.#groups.set(key, { first, rows: 1, lines: [line] });
      } else this.#others++;
    }
  }

  /** `others`: problems beside the first 100 kinds. */
  told(): { readonly problems: readonly InvalidProblem[]; readonly otherProblems: number } {
    return { problems: [...this.#groups.values()], otherProblems: this.#others };
  }
}

function keyOf({ column = '', message }: RowProblem): string {
  return `${column}\n${message.replace(/"(?:[^"\\]|\\.)*"/g, '""').replace(/\d+/g, '0')}`;
}

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
