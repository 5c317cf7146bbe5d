import type { ColumnLayout } from '../columns/column-layout.js';
import type { FixedCells, FixedPath, SetCells, SetTemplate } from '../columns/fixed-cells.js';
import { CellProblem, isFor, type FieldName, type RowPurpose } from '../columns/manifest-fields.js';
import { fillTemplate, type NamedValues } from '../columns/template.js';
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

/**
 * Fills the `--set` texts that name columns with the cells of one row. A field that the row has itself, or that rows of its kind do
 * not send, needs no filling. What cannot be filled is a problem of the row.
 */
export function fillSet(set: SetCells, row: RowToFill, cells: RowCells, problems: Problems): FixedCells {
  const named = namedValues(row);
  const fields = { ...set.fields };
  const filled = new Map<string, FixedPath>();
  for (const { name, path, template } of set.templates) {
    const field = name as FieldName;
    if (path !== undefined) {
      const value = fillTemplate(template, named);
      filled.set(name, { ...path, value: pathValue(value, path.text, row.format, template) });
    } else if (isUsed(field, row, cells)) {
      const value = fillTemplate(template, named);
      if (value instanceof CellProblem) problems.add(`--set ${name}`, value.message);
      else fields[field] = value === '' ? undefined : value;
    }
  }
  const paths = set.paths.map((path) => filled.get(path.name) ?? path);
  return { fields, paths: paths.filter(({ value }) => value !== undefined) };
}

function isUsed(field: FieldName, { layout, purpose }: RowToFill, cells: RowCells): boolean {
  return !cells.isFilled(layout.at[field]) && (purpose === undefined || isFor(purpose, field));
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
