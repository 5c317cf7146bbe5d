import type { ColumnUse, RowKind } from '../row.js';
import type { ColumnLayout, PlacedName } from './column-layout.js';
import { editFields, type FieldName } from './field-names.js';
import type { RowCells } from './row-cells.js';

const sentFields: Readonly<Record<RowKind, readonly FieldName[]>> = {
  edit: [...editFields, 'input'],
  job: ['input'],
  route: ['route', 'method', 'body'],
};

const everySent = [...new Set(Object.values(sentFields).flat())];

/** What a layout's columns are to rows of one kind. */
export interface KindColumns {
  readonly use: ColumnUse;
  /** Columns that only another kind sends. */
  readonly foreign: readonly PlacedName[];
}

/** Works out once for a layout and kind which columns are sent. A row that only collects a job sends none. */
export function kindColumns(layout: ColumnLayout, kind: RowKind, collects: boolean): KindColumns {
  const root = kind === 'route' ? 'body' : 'input';
  const fields = collects ? [] : sentFields[kind];
  const sent = new Set([
    ...fields.map((field) => layout.at[field]),
    ...layout.paths.filter((path) => path.root === root && !collects).map(({ at }) => at),
  ]);
  const foreign = [
    ...[...everySent, ...(kind === 'route' ? (['endpoint'] as const) : [])]
      .filter((field) => !fields.includes(field) && layout.at[field] >= 0)
      .map((field) => ({ name: field, at: layout.at[field] })),
    ...layout.paths.filter((path) => path.root !== root),
  ];
  const nameAt = (at: number): string => layout.names[at] ?? '';
  const use: ColumnUse = {
    kind,
    sent: [...sent]
      .filter((at) => at >= 0)
      .sort((a, b) => a - b)
      .map(nameAt),
    own: layout.ownNames,
    misplaced: [],
  };
  return { use, foreign };
}

/** The foreign columns that a row fills all the same. */
export function misplacedColumns(columns: KindColumns, cells: RowCells): readonly PlacedName[] {
  if (columns.foreign.length === 0) return columns.foreign;
  return columns.foreign.filter(({ at }) => cells.isFilled(at));
}
