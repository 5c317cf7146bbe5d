import type { ManifestSettings } from '../manifest-settings.js';
import type { RowProblem } from '../manifest-row.js';
import { columnLayout, purposeColumns, type ColumnLayout, type PurposeColumns } from './column-layout.js';
import type { RowPurpose } from './manifest-fields.js';
import { misspeltColumns, type SpellingRules } from './misspelt-columns.js';

/** The meaning of columns for rows of one purpose. */
export interface KnownColumns extends PurposeColumns {
  readonly misspelt: readonly RowProblem[];
}

/** After this many layouts all are forgotten, because every line of JSONL may have other keys. */
const layoutsKept = 1_000;

/** Finds the meaning of columns once for all rows with the same columns. */
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

  /** The meaning of a layout's columns for rows of one purpose, with the misspelt ones. */
  columnsFor(purpose: RowPurpose, layout: ColumnLayout): KnownColumns {
    const purposes = this.#purposes.get(layout) ?? new Map<RowPurpose, KnownColumns>();
    const known = purposes.get(purpose);
    if (known !== undefined) return known;
    const misspelt = misspeltColumns(layout, purpose, this.#spelling);
    const columns = { ...purposeColumns(layout, purpose), misspelt };
    this.#purposes.set(layout, purposes.set(purpose, columns));
    return columns;
  }

  #find(names: readonly string[]): ColumnLayout {
    const key = JSON.stringify(names);
    const known = this.#layouts.get(key);
    if (known !== undefined) return known;
    if (this.#layouts.size >= layoutsKept) this.#layouts.clear();
    const layout = columnLayout(names, this.#map, this.#spelling.ignore);
    this.#layouts.set(key, layout);
    return layout;
  }
}

/** Compares the names, because consecutive rows usually have the same keys. */
function isSame(names: readonly string[], others: readonly string[]): boolean {
  if (names === others) return true;
  if (names.length !== others.length) return false;
  for (let at = 0; at < names.length; at++) if (names[at] !== others[at]) return false;
  return true;
}
