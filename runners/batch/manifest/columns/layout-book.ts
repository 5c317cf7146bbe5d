import type { ManifestSettings } from '../manifest-settings.js';
import type { ColumnUse, RowProblem } from '../manifest-row.js';
import {
  columnLayout,
  purposeColumns,
  type ColumnLayout,
  type PlacedName,
  type PurposeColumns,
} from './column-layout.js';
import type { RowPurpose } from './manifest-fields.js';
import { misspeltColumns, type SpellingRules } from './misspelt-columns.js';

interface KnownColumns extends PurposeColumns {
  readonly misspelt: readonly RowProblem[];
}

/** JSONL may have other keys in every line: after this many layouts the book forgets them all. */
const layoutsKept = 1_000;

/** Works out the meaning of columns once for all rows that have the same ones. */
export class LayoutBook {
  readonly #map: ManifestSettings['map'];
  readonly #spelling: SpellingRules;
  readonly #layouts = new Map<string, ColumnLayout>();
  readonly #purposes = new WeakMap<ColumnLayout, Map<RowPurpose, KnownColumns>>();
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

  /** What happens to a row's columns, and which filled ones mean something only to other rows. */
  useOf(
    cells: { readonly layout: ColumnLayout; isFilled(at: number): boolean },
    purpose: RowPurpose,
  ): { readonly use: ColumnUse; readonly misplaced: readonly PlacedName[] } {
    const { use, foreign } = this.#columnsFor(purpose, cells.layout);
    const misplaced = foreign.length === 0 ? foreign : foreign.filter(({ at }) => cells.isFilled(at));
    if (misplaced.length === 0) return { use, misplaced };
    return { use: { ...use, misplaced: misplaced.map(({ name }) => name) }, misplaced };
  }

  /** The columns of such rows that are misspelt. */
  misspelt(layout: ColumnLayout, purpose: RowPurpose): readonly RowProblem[] {
    return this.#columnsFor(purpose, layout).misspelt;
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

  #columnsFor(purpose: RowPurpose, layout: ColumnLayout): KnownColumns {
    const purposes = this.#purposes.get(layout) ?? new Map<RowPurpose, KnownColumns>();
    const known = purposes.get(purpose);
    if (known !== undefined) return known;
    const misspelt = misspeltColumns(layout, purpose, this.#spelling);
    const columns = { ...purposeColumns(layout, purpose), misspelt };
    this.#purposes.set(layout, purposes.set(purpose, columns));
    return columns;
  }
}

/** Compares the lists themselves: rows that follow each other mostly have the same keys. */
function isSame(names: readonly string[], others: readonly string[]): boolean {
  return (
    names === others || (names.length === others.length && names.every((name, at) => name === others[at]))
  );
}
