import { formatCount } from '../../messages/format-amounts.js';
import { button, h, keySign } from '../dom.js';
import { type Choice, picker } from './picker.js';

export interface FilterChoice {
  readonly name: string;
  readonly label: string;
  readonly count: number;
}

export interface Toolbar {
  readonly element: HTMLElement;
  /** The pager, once more, for the end of the contact sheet. */
  readonly pagerBelow: HTMLElement;
  setFilters(choices: readonly FilterChoice[], chosen: string): void;
  setPlace(first: number, count: number, found: number): void;
  setQuery(query: string): void;
  setSort(sort: string, by: string): void;
  /** How many rows have ended since the latest ones were shown, from 0. */
  setNew(count: number): void;
  focusSearch(): void;
}

export interface ToolbarActions {
  readonly search: (query: string) => void;
  /** The search field got the focus. */
  readonly beforeSearch: () => void;
  readonly filter: (name: string) => void;
  /** A value of a column was chosen, as a term of the search. */
  readonly addTerm: (term: string) => void;
  readonly sort: (sort: string) => void;
  /** Shows rows of one original side by side by the values of a column; empty for the contact sheet. */
  readonly compareBy: (column: string) => void;
  readonly turn: (pages: number) => void;
  readonly showNew: () => void;
  readonly selectAll: () => void;
  readonly help: () => void;
  /** The choices of the lists, loaded on first use. */
  readonly columns: () => Promise<{ terms: Choice[]; sorts: Choice[]; axes: Choice[] }>;
}

/** Search, filters and pager; they stay in sight while the contact sheet scrolls. */
export function createToolbar(actions: ToolbarActions): Toolbar {
  const search = h('input', {
    type: 'search',
    placeholder: 'Search prompts, ids, errors',
    'aria-label': 'Search',
    autocomplete: 'off',
    spellcheck: 'false',
    onfocus: () => actions.beforeSearch(),
    oninput: () => actions.search(search.value),
  });
  const filters = h('div', { class: 'filters', role: 'group', 'aria-label': 'Filter' });
  const place = h('p', { role: 'status' });
  const pagers = [createPager('Pages', actions), createPager('Pages, below the sheet', actions)] as const;
  pagers[1].element.classList.add('below');
  const searchBox = h('div', { class: 'search' }, search, keySign('/'));
  const newer = button(actions.showNew, { class: 'newer', hidden: true });
  const all = button(actions.selectAll, { class: 'plain' }, 'Select all');
  const help = button(actions.help, { class: 'plain keys' }, 'Keys', keySign('?'));
  const read = actions.columns;
  const terms = picker('Filter by column', 'Column', async () => (await read()).terms, actions.addTerm);
  const sort = picker('Sort', 'Manifest order', async () => (await read()).sorts, actions.sort);
  const axes = picker('Variants', 'Variants by', async () => (await read()).axes, actions.compareBy);
  const pickers = h('div', { class: 'pickers' }, terms.element, sort.element, axes.element, help);
  const where = h('div', { class: 'where' }, newer, all, place, pagers[0].element);
  return {
    element: h('div', { class: 'toolbar' }, searchBox, pickers, filters, where),
    pagerBelow: pagers[1].element,
    setFilters: (choices, chosen) => drawFilters(filters, choices, chosen, (name) => actions.filter(name)),
    setPlace(first, count, found) {
      place.textContent =
        found === 0 ? '' : `${formatCount(first + 1)}–${formatCount(first + count)} of ${formatCount(found)}`;
      all.hidden = found === 0;
      for (const pager of pagers) pager.set(first > 0, first + count < found);
    },
    setNew(count) {
      newer.hidden = count === 0;
      newer.textContent = `Show ${formatCount(count)} new`;
    },
    setQuery(query) {
      if (search.value !== query) search.value = query;
    },
    setSort(sorted, by) {
      sort.set(sorted);
      axes.set(by);
    },
    focusSearch: () => search.focus(),
  };
}

function drawFilters(
  filters: HTMLElement,
  choices: readonly FilterChoice[],
  chosen: string,
  choose: (name: string) => void,
): void {
  const words = JSON.stringify([choices, chosen]);
  if (filters.dataset['shown'] === words) return;
  filters.dataset['shown'] = words;
  const hadFocus = filters.contains(document.activeElement);
  const buttons = choices.map(({ name, label, count }) =>
    button(
      () => choose(name),
      { 'aria-pressed': String(name === chosen) },
      h('span', {}, label),
      h('span', { class: 'many' }, formatCount(count)),
    ),
  );
  filters.replaceChildren(...buttons);
  if (hadFocus) filters.querySelector<HTMLElement>('[aria-pressed="true"]')?.focus();
}

function createPager(
  label: string,
  actions: ToolbarActions,
): { element: HTMLElement; set(back: boolean, on: boolean): void } {
  const turn = (name: string, sign: string, by: number): HTMLButtonElement =>
    button(() => actions.turn(by), { 'aria-label': name }, sign);
  const [back, on] = [turn('Previous page', '←', -1), turn('Next page', '→', 1)];
  const element = h('nav', { class: 'pager', 'aria-label': label }, back, on);
  return {
    element,
    set(canGoBack, canGoOn) {
      element.hidden = !canGoBack && !canGoOn;
      back.disabled = !canGoBack;
      on.disabled = !canGoOn;
    },
  };
}
