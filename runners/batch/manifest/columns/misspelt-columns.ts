import { shellWords, quoteValue } from '../quote-value.js';
import { nearMiss } from './near-miss.js';
import type { RowProblem } from '../manifest-row.js';
import type { ColumnLayout } from './column-layout.js';
import {
  editFieldNames,
  isEditField,
  meantFields,
  type FieldName,
  type RowPurpose,
} from './manifest-fields.js';
import type { FixedCells } from './fixed-cells.js';

/** Fields from `--set`, and columns that need no check. */
export interface SpellingRules {
  readonly fixed: FixedCells;
  /** Columns that the user has declared as their own. */
  readonly ignore: readonly string[];
}

/** The columns that look like an absent field. Their values would not be sent, and the row would be bought without them. */
export function misspeltColumns(
  layout: ColumnLayout,
  purpose: RowPurpose,
  { fixed, ignore }: SpellingRules,
): readonly RowProblem[] {
  const names = [...layout.ownNames, ...(purpose === 'edit' ? layout.paths.map(({ name }) => name) : [])];
  return names.flatMap((column) => {
    if (ignore.includes(column)) return [];
    const meant = meantBy(column, purpose);
    return meant === undefined || isPresent(meant, layout, fixed)
      ? []
      : [{ column, message: advice(column, meant) }];
  });
}

/** One message about all misspelt columns of a CSV, with their places and names. */
export function misspeltText(misspelt: readonly RowProblem[], { names }: ColumnLayout): string {
  return misspelt
    .map(
      ({ column = '', message }) => `column ${names.indexOf(column) + 1} (${quoteValue(column)}) ${message}`,
    )
    .join('; ');
}

/** The field that a column was probably meant for. An edit's fields may also be written as `input.<name>`. */
function meantBy(column: string, purpose: RowPurpose): string | undefined {
  const below = column.startsWith('input.') ? column.slice('input.'.length) : undefined;
  if (below === undefined) return nearMiss(column, meantFields[purpose]);
  return isEditField(below) || below.includes('.') ? undefined : nearMiss(below, editFieldNames);
}

function isPresent(
  meant: string,
  { at, paths }: ColumnLayout,
  { fields, paths: fixedPaths }: FixedCells,
): boolean {
  const isPath = [...paths, ...fixedPaths].some(({ name }) => name === meant || name === `input.${meant}`);
  return isPath || at[meant as FieldName] >= 0 || fields?.[meant as FieldName] !== undefined;
}

function advice(column: string, meant: string): string {
  const is = column.startsWith('input.') ? 'is not a field of an edit' : 'is not sent';
  return `${is}, but looks like ${quoteValue(meant)}, for which there is no column; rename it, or declare it as your own with --ignore ${shellWords(column)}`;
}
