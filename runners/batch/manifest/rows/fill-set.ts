import type { ColumnLayout } from '../columns/column-layout.js';
import type { FixedCells, FixedPath, SetCells, SetTemplate } from '../columns/fixed-cells.js';
import { CellProblem, isFor, type FieldName, type RowPurpose } from '../columns/manifest-fields.js';
import { fillTemplate, namesIn, type NamedValues } from '../columns/template.js';
import { cellValue } from '../parse-json.js';
import type { Problems, RowCells } from './row-cells.js';

/** A row whose `--set` texts are to be filled. */
interface RowToFill {
  readonly values: readonly unknown[];
  readonly layout: ColumnLayout;
  readonly format: 'csv' | 'jsonl';
  /** What the row is sent as; `undefined`: that is not known before they are filled. */
  readonly purpose: RowPurpose | undefined;
}

/** What `--set` gives to one row. */
interface FilledSet {
  readonly fixed: FixedCells;
  /** The columns that were asked for. */
  readonly used: ReadonlySet<string>;
}

/**
 * Fills the `--set` texts that name columns with the cells of one row. A field that the row has itself, or that rows of its kind do
 * not send, needs no filling. What cannot be filled is a problem of the row.
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

/** Whether the row has a column of that path itself. */
function hasOwn(name: string, { layout, values }: RowToFill): boolean {
  return layout.paths.some(
    (path) => path.name === name && values[path.at] !== undefined && values[path.at] !== '',
  );
}

/** A text that holds places among others is one more cell of its column; a JSONL value by itself keeps its type. */
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

/** The columns by the names that the manifest gives them, and by those of the fields that `--map` reads from them. */
function namedValues({ values, layout, format }: RowToFill): NamedValues {
  const { names, cells } = layout;
  const valueOf = (name: string): { readonly value: unknown } | undefined => {
    const at = cells.find((cell) => cell.name === name)?.at ?? names.indexOf(name);
    return at < 0 ? undefined : { value: values[at] };
  };
  return {
    names: [...new Set([...names, ...cells.map(({ name }) => name)])],
    valueOf,
    areOfAll: format === 'csv',
  };
}
