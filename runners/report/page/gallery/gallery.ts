import { errorText } from '../../../../src/contract/millrace-error.js';
import type { PageRow } from '../../page-data.js';
import { button, h } from '../dom.js';
import type { Page } from '../page.js';
import type { RowStore } from '../rows/row-store.js';
import { VariantGrid } from '../variants/variant-grid.js';
import { columnChoices } from './picker.js';
import {
  countFilters,
  decidedPlaces,
  type Filter,
  filterRows,
  verdictFilters,
  holdRows,
} from './filter-rows.js';
import { Sheet } from './sheet.js';
import { printAllRows } from './print-rows.js';
import { type FoundPage, RowCursor, Selection } from './row-cursor.js';
import { createToolbar, type Toolbar } from './toolbar.js';

const framesAPage = 96;

export interface GalleryNeeds {
  readonly page: Page;
  /** Shows the list of keys. */
  help(): void;
  /** The selection, or its size, has changed. */
  selected(): void;
  /** Whether the large view is open, which keeps the list of found rows unchanged. */
  isLargeOpen(): boolean;
  /** Called when the first rows are found and not yet drawn: from now on keys act on the opened row. */
  begun(): Promise<void>;
}

/** The contact sheet with its filters, its search and its pages. */
export class Gallery {
  readonly selection: Selection;
  readonly cursor: RowCursor;
  readonly #root: HTMLElement;
  readonly #heading = h('h2', { id: 'rows-name' });
  readonly #page: Page;
  readonly #needs: GalleryNeeds;
  readonly #toolbar: Toolbar;
  readonly #sheet: Sheet;
  readonly #variants: VariantGrid;
  #filter: Filter;
  #by = '';
  /** The column for variants at first: the run's first axis that has variants. */
  #usualBy = '';
  /** The query of the rows on the page. */
  #drawn: Filter | undefined;
  #shown: FoundPage = { found: [], first: 0, rows: [] };
  #hasBegun = false;
  /** Counts the updates, so that an outdated update draws nothing. */
  #turn = 0;

  constructor(root: HTMLElement, needs: GalleryNeeds) {
    const { page } = needs;
    [this.#root, this.#page, this.#needs] = [root, page, needs];
    const { name, query = '', sort = '', by, from = 0 } = page.address.read();
    this.#filter = { name: name ?? (page.data.latest === undefined ? 'all' : 'latest'), query, sort };
    this.selection = new Selection(() => this.#showSelection());
    this.#toolbar = createToolbar({
      search: (text) => this.show({ query: text }),
      // The search text is loaded while the first word is typed; an error shows when it is searched.
      beforeSearch: () => void page.store.texts().catch(() => undefined),
      filter: (chosen) => this.show({ name: chosen }),
      addTerm: (term) => {
        if (term !== '') this.show({ query: `${this.#filter.query} ${term}`.trim() });
      },
      sort: (chosen) => this.show({ sort: chosen }),
      compareBy: (column) => this.compareBy(column),
      showNew: () => this.show({}),
      turn: (pages) => void this.#turnPage(pages),
      selectAll: () => this.selection.all(this.found),
      help: () => needs.help(),
      columns: async () => columnChoices(await page.store.facets(), page.data.run.axes),
    });
    this.#sheet = new Sheet({
      open: (row, event) => this.#clicked(row, event),
      decide: (row, verdict) => {
        this.cursor.take(row);
        page.decide([row], verdict);
      },
      isRehearsal: page.data.run.isRehearsal,
      reviewOf: (row) => page.reviews.of(row),
    });
    this.#variants = new VariantGrid(page, (terms) => {
      this.#by = '';
      this.show({ query: terms });
    });
    root.replaceChildren(
      this.#heading,
      this.#toolbar.element,
      this.#sheet.element,
      this.#variants.element,
      this.#toolbar.pagerBelow,
    );
    this.#toolbar.setQuery(query);
    const shared = { page, sheet: this.#sheet, shown: () => this.#shown };
    this.cursor = new RowCursor({
      ...shared,
      selection: this.selection,
      turnTo: (place) => this.update(Math.floor(place / framesAPage) * framesAPage),
      followsVerdicts: () => verdictFilters.has(this.#filter.name),
    });
    printAllRows({ ...shared, whenEmpty: () => this.#whenEmpty() });
    void this.#begin(by, from);
  }

  /** Starts a run with axes as variants side by side, if all its rows are in the page. */
  async #begin(by: string | undefined, from: number): Promise<void> {
    const { run, source, latest } = this.#page.data;
    if (run.axes.length > 0 && source.kind === 'inline' && latest === undefined) {
      const varying = (await this.#page.store.facets()).axes(run.axes);
      this.#usualBy = run.axes.find((name) => varying.includes(name)) ?? '';
    }
    this.#by = by ?? this.#usualBy;
    await this.update(from);
  }

  get found(): readonly number[] {
    return this.#shown.found;
  }

  show(filter: Partial<Filter>): void {
    this.#toolbar.setNew(0);
    this.#filter = { ...this.#filter, ...filter };
    this.#toolbar.setQuery(this.#filter.query);
    this.selection.clear();
    this.#sheet.makeCurrent(0, false);
    void this.update(0);
  }

  compareBy(column: string): void {
    this.#by = column;
    void this.update(0);
  }

  /** Opens the first of these rows that has no verdict yet. */
  async review(name: string): Promise<void> {
    this.#filter = { name, query: '', sort: '' };
    this.#by = '';
    this.#toolbar.setQuery('');
    await this.update(0);
    const [first] = this.undecided();
    const index = first ?? this.found[0];
    if (index !== undefined) this.#page.openLarge(index);
  }

  /** Found rows that completed, by index. */
  toDecide(): number[] {
    const { data, store } = this.#page;
    const isCompleted = data.classes.map(({ status }) => status === 'completed');
    return this.found.filter((place) => isCompleted[store.classOf(place)] === true);
  }

  /** Those of them that have no verdict. */
  undecided(): number[] {
    const { store, reviews } = this.#page;
    const decided = decidedPlaces(reviews, store);
    return this.toDecide().filter((place) => !decided.has(place));
  }

  /** The reviews have changed. */
  showReviews(): void {
    const follows = verdictFilters.has(this.#filter.name) || /(^| )(stars|note):/.test(this.#filter.query);
    if (follows && !this.#needs.isLargeOpen()) return void this.update();
    this.#drawFilters();
    this.#sheet.showReviews();
    this.#variants.showReviews();
  }

  /** The filter, the rows or the page changed: the page begins at index `from` of the found rows. */
  async update(from = this.#shown.first): Promise<void> {
    const turn = ++this.#turn;
    this.#drawFilters();
    this.#toolbar.setSort(this.#filter.sort, this.#by);
    try {
      const found = await filterRows(this.#filter, this.#page);
      const lastPage = Math.max(0, Math.floor((found.length - 1) / framesAPage) * framesAPage);
      const first = Math.max(0, Math.min(from, lastPage));
      if (turn === this.#turn) await this.#drawPage(found, first, turn);
    } catch (error) {
      if (turn === this.#turn) this.#sheet.draw([], errorText(error));
    }
  }

  /** Shows the rows that were found, from `first` on. */
  async #drawPage(found: readonly number[], first: number, turn: number): Promise<void> {
    const { data, store, address } = this.#page;
    const isGrid = this.#by !== '';
    const rows = isGrid ? [] : await store.load(found.slice(first, first + framesAPage));
    if (turn !== this.#turn) return;
    this.#shown = { found, first, rows };
    this.#drawn = this.#filter;
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      await this.#needs.begun();
      if (turn !== this.#turn) return;
    }
    address.set({ ...this.#filter, by: this.#by === this.#usualBy ? undefined : this.#by, from: first });
    this.#heading.textContent = data.run.hasPictures ? 'Gallery' : 'Results';
    this.#sheet.element.hidden = isGrid;
    this.#variants.element.hidden = !isGrid;
    this.#toolbar.setPlace(first, isGrid ? found.length : rows.length, found.length);
    if (isGrid) return this.#variants.show(found, this.#by);
    await this.#sheet.drawInSteps(rows, this.#whenEmpty(), () => turn !== this.#turn);
    this.#showSelection();
  }

  /** Rows have ended since the store `before`. Among the latest, and wherever somebody is working, rows on the page stay in place. */
  async rowsChanged(before: RowStore): Promise<void> {
    const { found, first, rows } = this.#shown;
    const placeNow = (place: number): number | undefined =>
      this.#page.store.placeOf(before.numberAt(place) ?? -1);
    const standing = found.flatMap((place) => placeNow(place) ?? []);
    this.#shown = { ...this.#shown, found: standing };
    this.selection.move(placeNow);
    const isLatest = this.#filter.name === 'latest' && this.#filter.sort === '';
    const isCalm = isLatest || this.#root.matches(':hover, :focus-within');
    const isSame = this.#drawn === this.#filter && this.#by === '' && standing.length === found.length;
    if (!isCalm || !isSame) return this.#drawAnew();
    const turn = ++this.#turn;
    const fresh = await filterRows(this.#filter, this.#page);
    if (turn !== this.#turn) return;
    const held = holdRows({ standing, drawn: first + rows.length, fresh, isLatest, room: framesAPage });
    if (held === undefined) return this.#drawAnew();
    this.#drawFilters();
    this.#toolbar.setNew(held.waiting);
    await this.#drawPage(held.found, first, turn);
  }

  #drawAnew(): Promise<void> {
    this.#toolbar.setNew(0);
    return this.update();
  }

  focusSearch(): void {
    this.#toolbar.focusSearch();
  }

  #clicked(row: PageRow, event: MouseEvent): void {
    const index = this.cursor.take(row);
    if (index === undefined) return;
    if (event.shiftKey) this.selection.extend(this.found, index, index);
    else if (event.ctrlKey || event.metaKey) this.selection.toggle(index);
    else this.#page.openLarge(index);
  }

  #showSelection(): void {
    const { places } = this.selection;
    const { found, first, rows } = this.#shown;
    const selected = rows.filter((_, place) => places.has(found[first + place] ?? -1));
    this.#sheet.showSelected(new Set(selected.map(({ id }) => id)));
    this.#needs.selected();
  }

  #whenEmpty(): string | HTMLElement {
    const { name, query } = this.#filter;
    if ((name === 'all' || name === 'latest') && query === '') return 'No results yet.';
    const clear = (): void => {
      this.show({ name: 'all', query: '' });
      this.focusSearch();
    };
    return h('p', {}, 'No matches. ', button(clear, { class: 'plain' }, 'Clear filters'));
  }

  #drawFilters(): void {
    const choices = countFilters(this.#page.data, this.#page.reviews, this.#filter.name);
    const cause = this.#page.data.classes.find((one) => this.#filter.name === `cause-${one.cause}`);
    if (cause !== undefined)
      choices.push({ name: this.#filter.name, label: cause.label, count: cause.count });
    this.#toolbar.setFilters(choices, this.#filter.name);
  }

  async #turnPage(pages: number): Promise<void> {
    await this.update(this.#shown.first + pages * framesAPage);
    this.#sheet.makeCurrent(0, false);
    this.#root.scrollIntoView({ block: 'start' });
  }
}
