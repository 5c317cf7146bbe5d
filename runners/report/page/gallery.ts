import type { PageRow } from '../page-data.js';
import { formatCount } from '../words/amounts.js';
import { h } from './dom.js';
import { countFilters, filterRows, type Filter } from './filter-rows.js';
import { drawFrame } from './frame.js';
import type { Page } from './page.js';

const framesAPage = 96;

export interface Gallery {
  /** Places of the rows that pass the filter, in order. */
  readonly found: readonly number[];
  show(filter: Partial<Filter>): void;
  /** Draws again what is to be seen: the rows or the marks have changed. */
  refresh(): void;
  /** Moves to a row, wherever it is among those found, and gives it the focus. */
  goTo(index: number): void;
  current(): { row: PageRow; index: number } | undefined;
  move(step: 'left' | 'right' | 'up' | 'down' | 'first' | 'last'): void;
  focusSearch(): void;
}

/** The contact sheet with its filters, its search and its pages. */
export function openGallery(root: HTMLElement, page: Page): Gallery {
  let filter: Filter = { name: 'all', query: '' };
  let found: number[] = [];
  let first = 0;
  let at = 0;
  let rows: PageRow[] = [];
  let turn = 0;

  const search = h('input', {
    type: 'search',
    placeholder: 'Search prompts, ids, errors',
    'aria-label': 'Search',
    autocomplete: 'off',
    spellcheck: 'false',
    oninput: () => show({ query: search.value }),
  });
  const filters = h('div', { class: 'filters', role: 'group', 'aria-label': 'Filter' });
  const count = h('p', { class: 'found', role: 'status' });
  const pager = h('nav', { class: 'pager', 'aria-label': 'Pages' });
  const sheet = h('ul', { class: 'sheet' });
  const pagerBelow = h('nav', { class: 'pager below', 'aria-label': 'Pages, below' });
  root.replaceChildren(
    h('h2', {}, 'Gallery'),
    h(
      'div',
      { class: 'toolbar' },
      h('div', { class: 'search' }, search, h('kbd', { 'aria-hidden': 'true' }, '/')),
      filters,
      h('div', { class: 'where' }, count, pager),
    ),
    keysLine(),
    sheet,
    pagerBelow,
  );

  function show(change: Partial<Filter>): void {
    filter = { ...filter, ...change };
    if (search.value !== filter.query) search.value = filter.query;
    first = 0;
    at = 0;
    void update();
  }

  async function update(): Promise<void> {
    const mine = ++turn;
    drawFilters();
    try {
      const passed = await filterRows(filter, page.data, page.store, page.marks);
      if (mine !== turn) return;
      found = passed;
      if (first >= found.length)
        first = Math.max(0, Math.floor((found.length - 1) / framesAPage) * framesAPage);
      const loaded = await page.store.load(found.slice(first, first + framesAPage));
      if (mine !== turn) return;
      rows = loaded;
      drawSheet();
    } catch (error) {
      sheet.replaceChildren(
        h('li', { class: 'empty' }, error instanceof Error ? error.message : String(error)),
      );
    }
  }

  function drawFilters(): void {
    const known = countFilters(page.data, page.marks);
    const cause = filter.name.startsWith('cause-')
      ? page.data.classes.find((one) => `cause-${one.cause}` === filter.name)
      : undefined;
    if (cause !== undefined) known.push({ name: filter.name, label: cause.label, count: cause.count });
    const focused = filters.contains(document.activeElement);
    filters.replaceChildren(
      ...known.map(({ name, label, count: many }) =>
        h(
          'button',
          { type: 'button', 'aria-pressed': String(name === filter.name), onclick: () => show({ name }) },
          h('span', {}, label),
          h('span', { class: 'many' }, formatCount(many)),
        ),
      ),
    );
    if (focused) filters.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
  }

  function drawSheet(): void {
    const frames = rows.map((row, place) => {
      const index = found[first + place] ?? 0;
      const element = drawFrame(row, page.marks.of(row), {
        open: () => open(place),
        toggle: () => toggle(place),
      });
      element.dataset['index'] = String(index);
      return element;
    });
    const nothing =
      filter.query === '' && filter.name === 'all' ? 'No row has ended yet.' : 'No row is like that.';
    sheet.replaceChildren(...(frames.length > 0 ? frames : [h('li', { class: 'empty' }, nothing)]));
    makeCurrent(Math.min(at, rows.length - 1), false);
    const last = Math.min(first + framesAPage, found.length);
    count.textContent =
      found.length === 0
        ? ''
        : `${formatCount(first + 1)}–${formatCount(last)} of ${formatCount(found.length)}`;
    for (const nav of [pager, pagerBelow]) drawPager(nav);
  }

  function drawPager(nav: HTMLElement): void {
    const step = (label: string, sign: string, to: number): HTMLElement =>
      h(
        'button',
        {
          type: 'button',
          'aria-label': label,
          disabled: to < 0 || to >= found.length,
          onclick: () => turnTo(to),
        },
        sign,
      );
    nav.hidden = found.length <= framesAPage;
    nav.replaceChildren(
      step('Previous page', '←', first - framesAPage),
      step('Next page', '→', first + framesAPage),
    );
  }

  function turnTo(place: number): void {
    first = place;
    at = 0;
    void update().then(() => root.querySelector('.toolbar')?.scrollIntoView({ block: 'start' }));
  }

  function makeCurrent(place: number, focus: boolean): void {
    at = Math.max(0, place);
    for (const [index, frame] of [...sheet.children].entries()) {
      const isCurrent = index === at;
      frame.classList.toggle('current', isCurrent);
      for (const control of frame.querySelectorAll<HTMLElement>('button, a'))
        control.tabIndex = isCurrent ? 0 : -1;
      if (isCurrent && focus) frame.querySelector<HTMLElement>('.result')?.focus();
    }
  }

  function open(place: number): void {
    makeCurrent(place, false);
    page.openLarge(found[first + place] ?? 0);
  }

  function toggle(place: number): void {
    const row = rows[place];
    makeCurrent(place, false);
    if (row !== undefined) page.marks.toggle(row, found[first + place] ?? 0);
  }

  function columns(): number {
    const tops = [...sheet.children].map((frame) => (frame as HTMLElement).offsetTop);
    return Math.max(1, tops.filter((top) => top === tops[0]).length);
  }

  const gallery: Gallery = {
    get found() {
      return found;
    },
    show,
    refresh: () => void update(),
    goTo(index) {
      const place = found.indexOf(index);
      if (place < 0) return;
      const page = Math.floor(place / framesAPage) * framesAPage;
      const settled = page === first ? Promise.resolve() : ((first = page), update());
      void settled.then(() => makeCurrent(place - first, true));
    },
    current() {
      const row = rows[at];
      const index = found[first + at];
      return row === undefined || index === undefined ? undefined : { row, index };
    },
    move(step) {
      const by = { left: -1, right: 1, up: -columns(), down: columns(), first: -Infinity, last: Infinity }[
        step
      ];
      const to = Math.min(found.length - 1, Math.max(0, first + at + by));
      if ((step === 'up' || step === 'down') && first + at + by !== to) return;
      gallery.goTo(found[to] ?? 0);
    },
    focusSearch: () => search.focus(),
  };
  void update();
  return gallery;
}

function keysLine(): HTMLElement {
  const key = (...names: string[]): HTMLElement => h('span', {}, ...names.map((name) => h('kbd', {}, name)));
  return h(
    'p',
    { class: 'keys' },
    key('←', '→'),
    ' move ',
    key('Enter'),
    ' open ',
    key('X'),
    ' reject ',
    key('/'),
    ' search',
  );
}
