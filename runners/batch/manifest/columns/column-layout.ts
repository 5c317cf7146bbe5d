import type { ManifestSettings } from '../manifest-settings.js';
import { quoteValue } from '../quote-value.js';
import type { ColumnUse, RowProblem } from '../manifest-row.js';
import type { DamageRules } from './damaged-text.js';
import { isRedoColumn } from '../matrix/redo-columns.js';
import {
  fieldNames,
  fieldsWith,
  isFieldName,
  isFor,
  sentFields,
  type FieldName,
  type RowPurpose,
} from './manifest-fields.js';
import { pathColumn, type PathColumn } from './path-column.js';

/** The meaning of a set of columns, computed once for all rows that have these columns. */
export interface ColumnLayout {
  /** The index of each field's column; -1 if it has none. */
  readonly at: Readonly<Record<FieldName, number>>;
  readonly paths: readonly PlacedPath[];
  /** The columns that may be sent or name a row: all but the user's own. */
  readonly read: readonly ReadColumn[];
  /** The user's own columns. */
  readonly own: readonly PlacedName[];
  readonly ownNames: readonly string[];
  /** Whether the columns are those of a redo manifest, which repeats rejected rows. */
  readonly isRedone: boolean;
  /** Every column in the manifest's order, with its name in `Row.cells`: a mapped column has the name of its field. */
  readonly cells: readonly (PlacedName & { readonly path: number })[];
  /** The columns' names in the manifest, for messages. */
  readonly names: readonly string[];
  readonly problem?: RowProblem;
}

export interface PlacedName {
  readonly name: string;
  readonly at: number;
}

export type PlacedPath = PathColumn & PlacedName;

export interface ReadColumn extends PlacedName, DamageRules {
  /** Whether it may hold any text. Fields of few values refuse a damaged one by themselves. */
  readonly isFree: boolean;
}

const ofFailure: ReadonlySet<string> = new Set(fieldsWith('failure'));
const ofIdentity: ReadonlySet<string> = new Set(fieldsWith('identity'));
const areFree: ReadonlySet<string> = new Set(fieldsWith('identity', 'content'));
const ofOrder: ReadonlySet<string> = new Set(fieldsWith('order'));

/**
 * Finds the meaning of each column: from `--map`, or from its name.
 *
 * @param ignore columns that are the user's own, although their name would decide the order of rows
 */
export function columnLayout(
  names: readonly string[],
  map: ManifestSettings['map'] = {},
  ignore: readonly string[] = [],
): ColumnLayout {
  const at = Object.fromEntries(fieldNames.map((field) => [field, -1])) as Record<FieldName, number>;
  const paths: PlacedPath[] = [];
  const own: PlacedName[] = [];
  const cells: (PlacedName & { path: number })[] = [];
  let problem: RowProblem | undefined;
  names.forEach((column, index) => {
    const fields = Object.keys(map).filter((field) => map[field] === column);
    if (fields.length === 0) problem ??= clash(column, map);
    for (const name of fields.length > 0 ? fields : [column]) {
      const path = pathColumn(name);
      cells.push({ name, at: index, path: typeof path === 'object' ? paths.length : -1 });
      if (typeof path === 'string') problem ??= { column, message: path };
      else if (path !== undefined) paths.push({ ...path, at: index });
      else {
        const isOwn = !isFieldName(name) || ofOrder.has(name);
        if (isOwn) own.push({ name, at: index });
        if (isFieldName(name) && !(isOwn && ignore.includes(column))) at[name] = index;
      }
    }
  });
  const ownNames = own.map(({ at: place }) => names[place] ?? '');
  const isRedone = own.some(({ name }) => isRedoColumn(name));
  const layout = { at, paths, own, ownNames, isRedone, cells, names };
  return { ...layout, read: readColumns(layout), ...(problem !== undefined && { problem }) };
}

function readColumns({ at, paths, cells, names }: Omit<ColumnLayout, 'read'>): ReadColumn[] {
  const read = new Map<number, ReadColumn>();
  for (const { name, at: index, path } of cells) {
    const field = isFieldName(name) && at[name] === index && !ofFailure.has(name) ? name : undefined;
    if (field === undefined && path < 0) continue;
    // `--map` may read two fields from one column.
    const other = read.get(index);
    read.set(index, {
      name: names[index] ?? '',
      at: index,
      isIdentity: other?.isIdentity === true || (field !== undefined && ofIdentity.has(field)),
      isFree: other?.isFree === true || path >= 0 || (field !== undefined && areFree.has(field)),
      isTyped: paths[path]?.text === false,
      isPrompt: other?.isPrompt === true || field === 'prompt',
    });
  }
  return [...read.values()];
}

/** A field that `--map` takes from another column must not have a column with its own name, because one of them would be lost. */
function clash(column: string, map: Readonly<Record<string, string>>): RowProblem | undefined {
  const source = Object.hasOwn(map, column) ? map[column] : undefined;
  if (source === undefined) return undefined;
  return {
    column,
    message: `--map ${column}=${source} takes this field from ${quoteValue(source)}; rename or remove this column`,
  };
}

/** The meaning of a layout's columns for rows of one purpose. */
export interface PurposeColumns {
  readonly use: ColumnUse;
  /** Columns that apply only to rows of other purposes. */
  readonly foreign: readonly PlacedName[];
}

const mayBeForeign = [...fieldsWith('content', 'setting'), ...fieldsWith('fact')];

export function purposeColumns(layout: ColumnLayout, purpose: RowPurpose): PurposeColumns {
  const root = purpose === 'route' ? 'body' : 'input';
  const sent = new Set([
    ...sentFields[purpose].map((field) => layout.at[field]),
    ...layout.paths.filter((path) => path.root === root && purpose !== 'collect').map(({ at }) => at),
  ]);
  const foreign = [
    ...mayBeForeign
      .filter((field) => !isFor(purpose, field) && layout.at[field] >= 0)
      .map((field) => ({ name: field, at: layout.at[field] })),
    ...layout.paths.filter((path) => path.root !== root),
  ];
  const use: ColumnUse = {
    kind: purpose === 'collect' ? 'job' : purpose,
    sent: [...sent]
      .filter((at) => at >= 0)
      .sort((a, b) => a - b)
      .map((at) => layout.names[at] ?? ''),
    own: layout.ownNames,
    misplaced: [],
  };
  return { use, foreign };
}
