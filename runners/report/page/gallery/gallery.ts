import type { PageRow } from '../../page-data.js';
import { h } from '../dom.js';
import type { Page } from '../page.js';
import type { Verdict } from '../review/redo-manifest.js';
import { VariantGrid } from '../variants/variant-grid.js';
import { columnChoices } from './column-choices.js';
import { countFilters, decidedPlaces, type Filter, filterRows, verdictFilters } from './filter-rows.js';
import { Selection } from './selection.js';
import { Sheet } from './sheet.js';
import { createToolbar, type Toolbar } from './toolbar.js';

const framesAPage = 96;
const mostPrinted = 5000;

export type Move = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

export interface GalleryNeeds {
  readonly page: Page;
  /** Shows which keys there are. */
  help(): void;
  /** The rows that are selected, or how many, have changed. */
  selected(): void;
  /** While the large view is open, the rows that were found stay. */
  isLargeOpen(): boolean;
}

/** The contact sheet with its filters, its search and its pages. */
export class Gallery {
  /** Places of the rows that pass the filter, in order. */
  found: readonly number[] = [];
  readonly selection: Selection;
  /** The first rows are drawn. */
  readonly ready: Promise<void>;
  readonly #root: HTMLElement;
  readonly #page: Page;
  readonly #needs: GalleryNeeds;
  readonly #toolbar: Toolbar;
  readonly #sheet: Sheet;
  readonly #variants: VariantGrid;
  #filter: Filter;
  #by: string;
  #first = 0;
  #rows: readonly PageRow[] = [];
  /** Counts the updates: one that has been overtaken draws nothing. */
  #turn = 0;

  constructor(root: HTMLElement, needs: GalleryNeeds) {
    const { page } = needs;
    [this.#root, this.#page, this.#needs] = [root, page, needs];
    const { name, query = '', sort = '', by = '', from = 0 } = page.address.read();
    this.#filter = { name: name ?? (page.data.latest === undefined ? 'all' : 'latest'), query, sort };
    [this.#by, this.#first] = [by, from];
    this.selection = new Selection(() => this.#showSelection());
    this.#toolbar = createToolbar({
      search: (text) => this.show({ query: text }),
      filter: (chosen) => this.show({ name: chosen }),
      addTerm: (term) => {
        if (term !== '') this.show({ query: `${this.#filter.query} ${term}`.trim() });
      },
      sort: (chosen) => this.show({ sort: chosen }),
      compareBy: (column) => this.compareBy(column),
      showNew: () => this.show({}),
      turn: (pages) => void this.#turnTo(this.#first + pages * framesAPage),
      selectAll: () => this.selection.all(this.found),
      help: () => needs.help(),
      columns: async () => columnChoices(await page.store.facets()),
    });
    this.#sheet = new Sheet({
      open: (row, event) => this.#clicked(row, event),
      decide: (row, verdict) => this.#act(row, () => page.decide([row], verdict)),
      isRehearsal: page.data.run.isRehearsal,
      reviewOf: (row) => page.reviews.of(row),
    });
    this.#variants = new VariantGrid(page);
    root.replaceChildren(
      h('h2', {}, 'Gallery'),
      this.#toolbar.element,
      this.#sheet.element,
      this.#variants.element,
      this.#toolbar.pagerBelow,
    );
    this.#toolbar.setQuery(query);
    this.ready = this.update();
  }

  show(filter: Partial<Filter>): void {
    this.#toolbar.setNew(0);
    this.#filter = { ...this.#filter, ...filter };
    this.#toolbar.setQuery(this.#filter.query);
    this.#first = 0;
    this.selection.clear();
    this.#sheet.makeCurrent(0, false);
    void this.update();
  }

  compareBy(column: string): void {
    this.#by = column;
    this.#first = 0;
    void this.update();
  }

  /** Opens the first of these rows that has no verdict yet. */
  async review(name: string): Promise<void> {
    this.#filter = { name, query: '', sort: '' };
    this.#by = '';
    this.#toolbar.setQuery('');
    await this.update();
    const [first] = this.undecided();
    const index = first ?? this.found[0];
    if (index !== undefined) this.#page.openLarge(index);
  }

  /** Of the rows found, the places of those that completed and have no verdict. */
  undecided(): number[] {
    const { data, store, reviews } = this.#page;
    const decided = decidedPlaces(reviews, store);
    const isCompleted = data.classes.map(({ status }) => status === 'completed');
    return this.found.filter((place) => !decided.has(place) && isCompleted[store.classOf(place)] === true);
  }

  /** The reviews have changed. */
  showReviews(): void {
    const follows = verdictFilters.has(this.#filter.name) || /(^| )(stars|note):/.test(this.#filter.query);
    if (follows && !this.#needs.isLargeOpen()) return void this.update();
    this.#drawFilters();
    this.#sheet.showReviews(this.#whenEmpty());
    this.#variants.showReviews();
    this.#showSelection();
  }

  /** The filter, the page or the rows have changed. */
  async update(): Promise<void> {
    const turn = ++this.#turn;
    this.#drawFilters();
    this.#toolbar.setSort(this.#filter.sort, this.#by);
    try {
      const found = await filterRows(this.#filter, this.#page);
      const lastPage = Math.max(0, Math.floor((found.length - 1) / framesAPage) * framesAPage);
      const first = Math.min(this.#first, lastPage);
      const isGrid = this.#by !== '';
      const rows = isGrid ? [] : await this.#page.store.load(found.slice(first, first + framesAPage));
      if (turn !== this.#turn) return;
      [this.found, this.#first, this.#rows] = [found, first, rows];
      this.#page.address.set({ ...this.#filter, by: this.#by, from: first });
      this.#sheet.element.hidden = isGrid;
      this.#variants.element.hidden = !isGrid;
      this.#toolbar.setPlace(first, isGrid ? found.length : rows.length, found.length);
      if (isGrid) return await this.#variants.show(found, this.#by);
      this.#sheet.draw(rows, this.#whenEmpty());
      this.#showSelection();
    } catch (error) {
      if (turn === this.#turn) this.#sheet.draw([], error instanceof Error ? error.message : String(error));
    }
  }

  current(): { row: PageRow; index: number } | undefined {
    const row = this.#rows[this.#sheet.current];
    const index = this.found[this.#first + this.#sheet.current];
    return row === undefined || index === undefined ? undefined : { row, index };
  }

  /** The selected rows get the verdict; without any, the current one gets it, and the next one becomes current. */
  async decide(verdict: Verdict | null): Promise<void> {
    const selected = [...this.selection.places].sort((a, b) => a - b);
    if (selected.length > 0) {
      this.#page.decide(await this.#page.store.load(selected), verdict);
      this.selection.clear();
      return;
    }
    const current = this.current();
    if (current === undefined) return;
    const next = this.found[this.found.indexOf(current.index) + 1];
    const stays = verdict !== null && !verdictFilters.has(this.#filter.name);
    this.#page.decide([current.row], verdict);
    if (stays && next !== undefined) await this.goTo(next);
  }

  rate(stars: number | null): void {
    const current = this.current();
    if (current !== undefined) this.#page.reviews.change([current.row], { stars });
  }

  /** Moves to a row, wherever it is among those found, and gives it the focus. */
  async goTo(index: number): Promise<void> {
    const place = this.found.indexOf(index);
    if (place < 0) return;
    const first = Math.floor(place / framesAPage) * framesAPage;
    if (first !== this.#first) {
      this.#first = first;
      await this.update();
    }
    this.#sheet.makeCurrent(place - first, true);
  }

  /** From elsewhere on the page, the first step goes to the current frame. */
  move(step: Move, extends_ = false): void {
    const current = this.found[this.#first + this.#sheet.current];
    if (!this.#sheet.hasFocus && current !== undefined) return void this.goTo(current);
    const columns = this.#sheet.columns();
    const by = { left: -1, right: 1, up: -columns, down: columns, first: -Infinity, last: Infinity }[step];
    const to = this.#first + this.#sheet.current + by;
    const last = this.found.length - 1;
    if ((step === 'up' || step === 'down') && (to < 0 || to > last)) return;
    const index = this.found[Math.max(0, Math.min(to, last))] ?? 0;
    if (extends_) this.selection.extend(this.found, current ?? index, index);
    void this.goTo(index);
  }

  focusCurrent(): void {
    this.#sheet.makeCurrent(this.#sheet.current, true);
  }

  /** Rows have ended: the latest stay as they are until a click on the button that counts the new ones. */
  rowsChanged(): void {
    const places = this.#rows.flatMap(({ row }) => this.#page.store.placeOf(row) ?? []);
    const isFrozen = this.#filter.name === 'latest' && this.#filter.query === '';
    if (!isFrozen || places.length === 0 || places.length < this.#rows.length) {
      this.#toolbar.setNew(0);
      return void this.update();
    }
    this.#drawFilters();
    this.found = places;
    this.#first = 0;
    const seen = new Set(places);
    this.#toolbar.setNew((this.#page.data.latest ?? []).filter((place) => !seen.has(place)).length);
  }

  /** All rows that pass the filter, for the printer; `false` puts the page back. */
  showAll(isPrinting: boolean): void {
    const rows = isPrinting ? this.#page.store.loadNow(this.found) : this.#rows;
    if (rows !== undefined) this.#sheet.draw(rows, this.#whenEmpty());
  }

  /** The same where rows have to be loaded first: no longer than a printer's patience. */
  async printAll(print: () => void): Promise<void> {
    this.#sheet.draw(await this.#page.store.load(this.found.slice(0, mostPrinted)), this.#whenEmpty());
    for (const picture of this.#sheet.element.querySelectorAll('img')) picture.loading = 'eager';
    while (this.#sheet.element.querySelector('img.loading') !== null)
      await new Promise((next) => requestAnimationFrame(next));
    print();
    this.#sheet.draw(this.#rows, this.#whenEmpty());
  }

  focusSearch(): void {
    this.#toolbar.focusSearch();
  }

  #clicked(row: PageRow, event: MouseEvent): void {
    this.#act(row, (index) => {
      if (event.shiftKey) this.selection.extend(this.found, index, index);
      else if (event.ctrlKey || event.metaKey) this.selection.toggle(index);
      else this.#page.openLarge(index);
    });
  }

  #act(row: PageRow, action: (index: number) => void): void {
    const place = this.#rows.findIndex(({ id }) => id === row.id);
    this.#sheet.makeCurrent(place, false);
    const index = this.found[this.#first + place];
    if (index !== undefined) action(index);
  }

  #showSelection(): void {
    const { places } = this.selection;
    const shown = this.#rows.filter((_, place) => places.has(this.found[this.#first + place] ?? -1));
    this.#sheet.showSelected(new Set(shown.map(({ id }) => id)));
    this.#needs.selected();
  }

  #whenEmpty(): string {
    const { name, query } = this.#filter;
    return (name === 'all' || name === 'latest') && query === '' ? 'No results yet.' : 'No matches.';
  }

  #drawFilters(): void {
    const choices = countFilters(this.#page.data, this.#page.reviews);
    const cause = this.#page.data.classes.find((one) => this.#filter.name === `cause-${one.cause}`);
    if (cause !== undefined)
      choices.push({ name: this.#filter.name, label: cause.label, count: cause.count });
    this.#toolbar.setFilters(choices, this.#filter.name);
  }

  async #turnTo(first: number): Promise<void> {
    this.#first = Math.max(0, first);
    await this.update();
    this.#sheet.makeCurrent(0, false);
    this.#root.scrollIntoView({ block: 'start' });
  }
}
