import type { ManifestSettings } from '../manifest-settings.js';
import type { ColumnUse, RowKind, RowProblem } from '../manifest-row.js';
import {
  columnLayout,
  type ColumnLayout,
  type PlacedName,
  kindColumns,
  misplacedColumns,
  type KindColumns,
} from './column-layout.js';
import { misspeltColumns, type SpellingRules } from './misspelt-columns.js';

/** JSONL may have other keys in every line: so many sets of them are remembered, then it starts anew. */
const layoutsKept = 1_000;

/** Works out what columns mean once for all rows that have the same ones. */
export class LayoutBook {
  readonly #map: ManifestSettings['map'];
  readonly #spelling: SpellingRules;
  readonly #layouts = new Map<string, ColumnLayout>();
  readonly #kinds = new WeakMap<ColumnLayout, Map<string, KindColumns>>();
  readonly #misspelt = new WeakMap<ColumnLayout, Map<string, readonly RowProblem[]>>();
  #lastNames: readonly string[] = [];
  #last: ColumnLayout | undefined;

  constructor(map: ManifestSettings['map'], spelling: SpellingRules) {
    this.#map = map;
    this.#spelling = spelling;
  }

  of(names: readonly string[]): ColumnLayout {
    if (this.#last !== undefined && isSame(names, this.#lastNames)) return this.#last;
    this.#lastNames = names;
    this.#last = this.#find(names);
    return this.#last;
  }

  /** What of a row's columns is sent, and which filled ones only another kind would send. */
  useOf(
    cells: { readonly layout: ColumnLayout; isFilled(at: number): boolean },
    kind: RowKind,
    collects: boolean,
  ): { readonly use: ColumnUse; readonly misplaced: readonly PlacedName[] } {
    const columns = this.#kindColumns(cells.layout, kind, collects);
    const misplaced = misplacedColumns(columns, cells);
    if (misplaced.length === 0) return { use: columns.use, misplaced };
    return { use: { ...columns.use, misplaced: misplaced.map(({ name }) => name) }, misplaced };
  }

  /** The columns of rows of a kind that are misspelt. */
  misspelt(layout: ColumnLayout, kind: RowKind | 'collect'): readonly RowProblem[] {
    const kinds = this.#misspelt.get(layout) ?? new Map<string, readonly RowProblem[]>();
    const known = kinds.get(kind) ?? misspeltColumns(layout, kind, this.#spelling);
    if (!kinds.has(kind)) this.#misspelt.set(layout, kinds.set(kind, known));
    return known;
  }

  #find(names: readonly string[]): ColumnLayout {
    const key = JSON.stringify(names);
    const known = this.#layouts.get(key);
    if (known !== undefined) return known;
    if (this.#layouts.size >= layoutsKept) this.#layouts.clear();
    const layout = columnLayout(names, this.#map);
    this.#layouts.set(key, layout);
    return layout;
  }

  #kindColumns(layout: ColumnLayout, kind: RowKind, collects: boolean): KindColumns {
    const kinds = this.#kinds.get(layout) ?? new Map<string, KindColumns>();
    const key = collects ? 'collect' : kind;
    const known = kinds.get(key) ?? kindColumns(layout, kind, collects);
    if (!kinds.has(key)) this.#kinds.set(layout, kinds.set(key, known));
    return known;
  }
}

/** Rows that follow each other mostly have the same keys: their lists need not be made one text to be told apart. */
function isSame(names: readonly string[], others: readonly string[]): boolean {
  return (
    names === others || (names.length === others.length && names.every((name, at) => name === others[at]))
  );
}
