import type { PageRow } from '../../page-data.js';
import type { Page } from '../page.js';
import type { Verdict } from '../review/redo-manifest.js';
import type { Sheet } from './sheet.js';

export type Move = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

/** The rows that the gallery has found, and the page that is drawn. */
export interface FoundPage {
  /** Indexes of the rows that pass the filter, in order. */
  readonly found: readonly number[];
  /** Where the page begins in `found`. */
  readonly first: number;
  readonly rows: readonly PageRow[];
}

export interface RowCursorNeeds {
  readonly page: Page;
  readonly sheet: Sheet;
  readonly selection: Selection;
  readonly shown: () => FoundPage;
  /** Draws the page with the row at this index of `found`. */
  readonly turnTo: (place: number) => Promise<void>;
  /** Whether a row leaves `found` when it gets a verdict. */
  readonly followsVerdicts: () => boolean;
}

/** The row on which keys act. It moves through all found rows, across pages. */
export class RowCursor {
  readonly #needs: RowCursorNeeds;

  constructor(needs: RowCursorNeeds) {
    this.#needs = needs;
  }

  /** The current row; `index` is its place in the manifest's order. */
  current(): { row: PageRow; index: number } | undefined {
    const { found, first, rows } = this.#needs.shown();
    const { current } = this.#needs.sheet;
    const [row, index] = [rows[current], found[first + current]];
    return row === undefined || index === undefined ? undefined : { row, index };
  }

  /** Makes a row that is drawn the current one. */
  take(row: PageRow): number | undefined {
    const place = this.#needs.shown().rows.findIndex(({ id }) => id === row.id);
    if (place < 0) return undefined;
    this.#needs.sheet.makeCurrent(place, false);
    return this.current()?.index;
  }

  focus(): void {
    this.#needs.sheet.makeCurrent(this.#needs.sheet.current, true);
  }

  /** Moves to a row, wherever it is among those found, and gives it the focus. */
  async goTo(index: number): Promise<void> {
    const { shown, sheet, turnTo } = this.#needs;
    const place = shown().found.indexOf(index);
    const { first, rows } = shown();
    // In the grid of variants no row of the contact sheet is current.
    if (place < 0 || rows.length === 0) return;
    if (place < first || place >= first + rows.length) await turnTo(place);
    sheet.makeCurrent(place - shown().first, true);
  }

  /** From elsewhere on the page, the first step goes to the current frame. */
  move(step: Move, extends_ = false): void {
    const { sheet, selection, shown } = this.#needs;
    const { found, first } = shown();
    const current = found[first + sheet.current];
    if (!sheet.hasFocus && current !== undefined) return void this.goTo(current);
    const columns = step === 'up' || step === 'down' ? sheet.columns() : 0;
    const by = { left: -1, right: 1, up: -columns, down: columns, first: -Infinity, last: Infinity }[step];
    const to = first + sheet.current + by;
    const last = found.length - 1;
    if (columns > 0 && (to < 0 || to > last)) return;
    const index = found[Math.max(0, Math.min(to, last))] ?? 0;
    if (extends_) selection.extend(found, current ?? index, index);
    void this.goTo(index);
  }

  /** Gives the selected rows the verdict; without a selection, the current row gets it, and the next row becomes current. */
  async decide(verdict: Verdict | null): Promise<void> {
    const { page, selection, shown, followsVerdicts } = this.#needs;
    const selected = [...selection.places].sort((a, b) => a - b);
    if (selected.length > 0) {
      page.decide(await page.store.load(selected), verdict);
      selection.clear();
      return;
    }
    const current = this.current();
    if (current === undefined) return;
    const { found, first } = shown();
    const next = found[first + this.#needs.sheet.current + 1];
    page.decide([current.row], verdict);
    if (verdict !== null && !followsVerdicts() && next !== undefined) await this.goTo(next);
  }

  rate(stars: number | null): void {
    const current = this.current();
    if (current !== undefined) this.#needs.page.reviews.change([current.row], { stars });
  }
}

/** The selected rows, by index; empty: the next verdict is for the current row. */
export class Selection {
  readonly #places = new Set<number>();
  readonly #onChange: () => void;
  #anchor: number | undefined;

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  get places(): ReadonlySet<number> {
    return this.#places;
  }

  toggle(place: number): void {
    if (!this.#places.delete(place)) this.#places.add(place);
    this.#anchor = place;
    this.#onChange();
  }

  /** From the last selected row, or from `start`, to this one, in the order of `found`. */
  extend(found: readonly number[], start: number, to: number): void {
    this.#anchor ??= start;
    const [one, other] = [found.indexOf(this.#anchor), found.indexOf(to)];
    this.#places.clear();
    for (const place of found.slice(Math.min(one, other), Math.max(one, other) + 1)) this.#places.add(place);
    this.#onChange();
  }

  all(found: readonly number[]): void {
    for (const place of found) this.#places.add(place);
    this.#onChange();
  }

  /** The same rows at their new indexes; `undefined`: a row is gone. */
  move(placeNow: (place: number) => number | undefined): void {
    const places = [...this.#places].flatMap((place) => placeNow(place) ?? []);
    this.#anchor = this.#anchor === undefined ? undefined : placeNow(this.#anchor);
    this.#places.clear();
    for (const place of places) this.#places.add(place);
  }

  /** `false` where nothing was selected. */
  clear(): boolean {
    this.#anchor = undefined;
    if (this.#places.size === 0) return false;
    this.#places.clear();
    this.#onChange();
    return true;
  }
}
