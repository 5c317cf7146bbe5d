import { nearMiss } from '../columns/near-miss.js';
import { quoteValue } from '../quote-value.js';
import { cellValue } from '../parse-json.js';
import { setPath } from '../columns/path-column.js';
import { entryAt } from '../columns/template.js';
import type { ColumnLayout } from '../columns/column-layout.js';
import { CellProblem, fieldNames, fieldsWith, type FieldName } from '../columns/manifest-fields.js';
import type { FixedCells } from '../columns/fixed-cells.js';
import type { RowProblem } from '../manifest-row.js';

const ofFailures: ReadonlySet<string> = new Set(fieldsWith('failure'));

/** The cells of one row by field. An empty cell counts as absent; absent fields are taken from `--set`. */
export class RowCells {
  readonly layout: ColumnLayout;
  readonly #values: readonly unknown[];
  readonly #fixed: FixedCells;
  /** The value of each path column; `undefined` if absent. */
  readonly #pathValues: readonly unknown[];

  constructor(values: readonly unknown[], layout: ColumnLayout, fixed: FixedCells, format: 'csv' | 'jsonl') {
    this.layout = layout;
    this.#values = values;
    this.#fixed = fixed;
    this.#pathValues =
      layout.paths.length === 0
        ? layout.paths
        : layout.paths.map(({ at, text }) => pathValue(values[at], text, format));
  }

  /** The value of a field; `undefined` if absent. */
  get(field: FieldName): unknown {
    const at = this.layout.at[field];
    const value = at < 0 ? undefined : this.#values[at];
    return value === undefined || value === '' || value === null ? this.#fixed.fields?.[field] : value;
  }

  /** The name of a field for messages: the column that it is read from. */
  label(field: FieldName): string {
    const at = this.layout.at[field];
    return at < 0 ? field : (this.layout.names[at] ?? field);
  }

  /** The message about an absent field, with a column that may have been meant for it. */
  missing(field: FieldName): string {
    const meant = this.layout.own.find(({ name }) => nearMiss(name, fieldNames) === field);
    return meant === undefined
      ? 'is missing'
      : `is missing; rename column ${quoteValue(meant.name)} if it is meant`;
  }

  hasPaths(root: 'input' | 'body'): boolean {
    const { paths } = this.layout;
    return (
      paths.some((path, index) => path.root === root && this.#pathValues[index] !== undefined) ||
      this.#fixed.paths.some((path) => path.root === root)
    );
  }

  /** Sets the values of `input.…` or `body.…` columns below `target`. Reports each conflict with another column. */
  putPaths(root: 'input' | 'body', target: Record<string, unknown>, problems: Problems): void {
    const { paths, names } = this.layout;
    paths.forEach((path, index) => {
      const value = this.#pathValues[index];
      if (path.root !== root || value === undefined) return;
      const problem = setPath(target, path.path, value);
      if (problem !== undefined) problems.add(names[path.at] ?? path.name, problem);
    });
    for (const { name, path, value, root: fixedRoot } of this.#fixed.paths) {
      if (fixedRoot !== root || entryAt(target, path) !== undefined) continue;
      const problem = value instanceof CellProblem ? value.message : setPath(target, path, value);
      if (problem !== undefined) problems.add(`--set ${name}`, problem);
    }
  }

  /** Every cell by name, as `Row.cells` has them: `input.…` cells as JSON, and the values of `--set`. */
  all(): Record<string, unknown> {
    const cells: Record<string, unknown> = {};
    for (const { name, at, path } of this.layout.cells) {
      if (ofFailures.has(name)) continue;
      const value = path < 0 ? this.#values[at] : this.#pathValues[path];
      if (value !== undefined) cells[name] = value;
    }
    const { fields, paths } = this.#fixed;
    for (const name in fields) {
      const value = fields[name as FieldName];
      if (value !== undefined && isAbsent(cells[name])) cells[name] = value;
    }
    for (const { name, value } of paths) if (!(value instanceof CellProblem)) cells[name] ??= value;
    return cells;
  }

  /** The user's own columns, and those in `misplaced`. */
  own(misplaced: readonly { readonly name: string; readonly at: number }[]): Record<string, unknown> {
    const columns: Record<string, unknown> = {};
    for (const { name, at } of this.layout.own) columns[name] = this.#values[at];
    for (const { name, at } of misplaced) columns[name] = this.#values[at];
    return columns;
  }

  /** The cell of a column as it is in the manifest. */
  raw(at: number): unknown {
    return this.#values[at];
  }

  /** Whether the cell of a column has a value. */
  isFilled(at: number): boolean {
    return !isAbsent(this.#values[at]);
  }
}

function isAbsent(value: unknown): boolean {
  return value === undefined || value === '' || value === null;
}

/** In JSONL each value has its type, and an empty text or `null` is a value too. */
function pathValue(value: unknown, text: boolean, format: 'csv' | 'jsonl'): unknown {
  if (format === 'csv') return value === '' ? undefined : text ? value : cellValue(value as string);
  return text && typeof value !== 'string' ? JSON.stringify(value) : value;
}

export class Problems {
  readonly found: RowProblem[] = [];

  /** Returns `undefined`, which the readers of a row return in place of what they could not read. */
  add(column: string | undefined, message: string): undefined {
    this.found.push(column === undefined ? { message } : { column, message });
    return undefined;
  }

  /** Adds a problem in place of those that the column has already, which only follow from it. */
  replace(column: string, message: string): void {
    const others = this.found.filter((problem) => problem.column !== column);
    this.found.splice(0, this.found.length, ...others, { column, message });
  }
}
