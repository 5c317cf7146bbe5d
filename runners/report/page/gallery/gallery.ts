import type { PageRow } from '../../page-data.js';
import { h } from '../dom.js';
import { countFilters, type Filter, filterRows } from './filter-rows.js';
import type { Page } from '../page.js';
import { Sheet } from './sheet.js';
import { createToolbar, type Toolbar } from './toolbar.js';

const framesAPage = 96;

export type Step = 'left' | 'right' | 'up' | 'down' | 'first' | 'last';

/** The contact sheet with its filters, its search and its pages. */
export class Gallery {
  /** Places of the rows that pass the filter, in order. */
  found: readonly number[] = [];
  readonly #root: HTMLElement;
  readonly #page: Page;
  readonly #toolbar: Toolbar;
  readonly #sheet: Sheet;
  #filter: Filter;
  #first = 0;
  #rows: readonly PageRow[] = [];
  /** Counts the updates: one that has been overtaken draws nothing. */
  #turn = 0;

  constructor(root: HTMLElement, page: Page) {
    this.#root = root;
    this.#page = page;
    const { name, query, from } = page.address.read();
    this.#filter = {
      name: name ?? (page.data.latest === undefined ? 'all' : 'latest'),
      query: query ?? '',
    };
    this.#first = from ?? 0;
    this.#toolbar = createToolbar({
      search: (query) => this.show({ query }),
      filter: (name) => this.show({ name }),
      showNew: () => this.show({}),
      turn: (pages) => void this.#turnTo(this.#first + pages * framesAPage),
    });
    this.#sheet = new Sheet({
      open: (row) => this.#act(row, (index) => page.openLarge(index)),
      toggle: (row) => this.#act(row, () => page.toggle(row)),
      isRehearsal: page.data.run.isRehearsal,
      rejectionOf: (row) => page.rejections.of(row),
    });
    root.replaceChildren(
      h('h2', {}, 'Gallery'),
      this.#toolbar.element,
      this.#sheet.element,
      this.#toolbar.pagerBelow,
    );
    this.#toolbar.setQuery(this.#filter.query);
    void this.update();
  }

  show(filter: Partial<Filter>): void {
    this.#toolbar.setNew(0);
    this.#filter = { ...this.#filter, ...filter };
    this.#toolbar.setQuery(this.#filter.query);
    this.#first = 0;
    this.#sheet.makeCurrent(0, false);
    void this.update();
  }

  /** The rejections have changed. */
  showRejections(): void {
    if (this.#filter.name === 'rejections') void this.update();
    else {
      this.#drawFilters();
      this.#sheet.showRejections(this.#whenEmpty());
    }
  }

  /** The filter, the page or the rows have changed. */
  async update(): Promise<void> {
    const turn = ++this.#turn;
    this.#drawFilters();
    const { data, store, rejections } = this.#page;
    try {
      const found = await filterRows(this.#filter, data, store, rejections);
      const lastPage = Math.max(0, Math.floor((found.length - 1) / framesAPage) * framesAPage);
      const first = Math.min(this.#first, lastPage);
      const rows = await store.load(found.slice(first, first + framesAPage));
      if (turn !== this.#turn) return;
      [this.found, this.#first, this.#rows] = [found, first, rows];
      this.#sheet.draw(rows, this.#whenEmpty());
      this.#toolbar.setPlace(first, rows.length, found.length);
      this.#page.address.set({ ...this.#filter, from: first });
    } catch (error) {
      if (turn === this.#turn) this.#sheet.draw([], error instanceof Error ? error.message : String(error));
    }
  }

  current(): { row: PageRow; index: number } | undefined {
    return this.#at(this.#sheet.current);
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
  move(step: Step): void {
    const current = this.found[this.#first + this.#sheet.current];
    if (!this.#sheet.hasFocus && current !== undefined) return void this.goTo(current);
    const columns = this.#sheet.columns();
    const by = { left: -1, right: 1, up: -columns, down: columns, first: -Infinity, last: Infinity }[step];
    const to = this.#first + this.#sheet.current + by;
    const last = this.found.length - 1;
    if ((step === 'up' || step === 'down') && (to < 0 || to > last)) return;
    void this.goTo(this.found[Math.max(0, Math.min(to, last))] ?? 0);
  }

  focusCurrent(): void {
    this.#sheet.makeCurrent(this.#sheet.current, true);
  }

  /** Rows have ended: the latest stay as they are while a person is at work among them, and a button shows the rest. */
  rowsChanged(): void {
    const shown = this.#rows.map(({ row }) => row);
    const places = shown.flatMap((row) => this.#page.store.placeOf(row) ?? []);
    const isFrozen = this.#filter.name === 'latest' && this.#filter.query === '' && this.#sheet.isInUse;
    if (!isFrozen || shown.length === 0 || places.length < shown.length) {
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

  focusSearch(): void {
    this.#toolbar.focusSearch();
  }

  #act(row: PageRow, action: (index: number) => void): void {
    const place = this.#rows.findIndex(({ id }) => id === row.id);
    this.#sheet.makeCurrent(place, false);
    const index = this.found[this.#first + place];
    if (index !== undefined) action(index);
  }

  #at(place: number): { row: PageRow; index: number } | undefined {
    const row = this.#rows[place];
    const index = this.found[this.#first + place];
    return row === undefined || index === undefined ? undefined : { row, index };
  }

  #whenEmpty(): string {
    const { name, query } = this.#filter;
    return (name === 'all' || name === 'latest') && query === '' ? 'No results yet.' : 'No matches.';
  }

  #drawFilters(): void {
    const choices = countFilters(this.#page.data, this.#page.rejections);
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
