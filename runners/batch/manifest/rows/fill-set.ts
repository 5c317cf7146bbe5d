import type { ColumnLayout } from '../columns/column-layout.js';
import type { FixedCells, FixedPath, SetCells, SetTemplate } from '../columns/fixed-cells.js';
import { errorValueProblem } from '../columns/damaged-text.js';
import { CellProblem, isFor, type FieldName, type RowPurpose } from '../columns/manifest-fields.js';
import { fillTemplate, namesIn, type NamedValues } from '../columns/template.js';
import { cellValue } from '../parse-json.js';
import type { Problems, RowCells } from './row-cells.js';

interface RowToFill {
  readonly values: readonly unknown[];
  readonly layout: ColumnLayout;
  readonly format: 'csv' | 'jsonl';
  /** The row's purpose; `undefined` if it is only known once the texts are filled. */
  readonly purpose: RowPurpose | undefined;
}

interface FilledSet {
  readonly fixed: FixedCells;
  /** The columns that the texts name. */
  readonly used: ReadonlySet<string>;
}

/**
 * Fills the `--set` texts that name columns with the cells of one row. Fields that the row has itself, or that its kind does
 * not send, are not filled. A text that cannot be filled is a problem of the row.
 */
export function fillSet(set: SetCells, row: RowToFill, cells: RowCells, problems: Problems): FilledSet {
  const used = new Set<string>();
  const named = namedValues(row);
  const fill = (template: SetTemplate['template']): unknown => {
    for (const name of namesIn(template)) used.add(name);
    return fillTemplate(template, named);
  };
  const fields = { ...set.fields };
  const filled = new Map<string, FixedPath>();
  for (const { name, path, template } of set.templates) {
    const field = name as FieldName;
    if (path !== undefined) {
      if (hasOwn(name, row)) continue;
      const value = fill(template);
      filled.set(name, { ...path, value: pathValue(value, path.text, row.format, template) });
    } else if (isUsed(field, row, cells)) {
      const value = fill(template);
      if (value instanceof CellProblem) problems.add(`--set ${name}`, value.message);
      else fields[field] = value === '' ? undefined : value;
    }
  }
  const paths = set.paths.map((path) => filled.get(path.name) ?? path);
  return { fixed: { fields, paths: paths.filter(({ value }) => value !== undefined) }, used };
}

function isUsed(field: FieldName, { layout, purpose }: RowToFill, cells: RowCells): boolean {
  return !cells.isFilled(layout.at[field]) && (purpose === undefined || isFor(purpose, field));
}

/** Whether the row itself has a value for that path. */
function hasOwn(name: string, { layout, values }: RowToFill): boolean {
  return layout.paths.some(
    (path) => path.name === name && values[path.at] !== undefined && values[path.at] !== '',
  );
}

/** A filled text is read like a cell of its column; a single placeholder keeps the type of a JSONL value. */
function pathValue(
  value: unknown,
  text: boolean,
  format: 'csv' | 'jsonl',
  { parts }: SetTemplate['template'],
): unknown {
  if (value === '') return undefined;
  if (typeof value !== 'string')
    return text && !(value instanceof CellProblem) ? JSON.stringify(value) : value;
  return text || (format === 'jsonl' && parts.length === 1) ? value : cellValue(value);
}

/** The columns by their names in the manifest, and by the names of the fields that `--map` reads from them. */
function namedValues({ values, layout, format }: RowToFill): NamedValues {
  const { names, cells } = layout;
  const valueOf = (name: string): { readonly value: unknown } | undefined => {
    const at = cells.find((cell) => cell.name === name)?.at ?? names.indexOf(name);
    if (at < 0) return undefined;
    const problem = format === 'csv' ? errorValueProblem(values[at]) : undefined;
    return { value: problem === undefined ? values[at] : new CellProblem(`{{${name}}}: ${problem}`) };
  };
  return {
    names: [...new Set([...names, ...cells.map(({ name }) => name)])],
    valueOf,
    areOfAll: format === 'csv',
  };
}
