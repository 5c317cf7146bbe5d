import { originalColumn } from '../rows/row-facets.js';
import { countOf, formatCount } from '../../messages/format-amounts.js';
import { statusLabel } from '../../messages/status-label.js';
import { resultContent, showReview } from '../gallery/frame.js';
import type { Review } from '../review/redo-manifest.js';
import type { PageRow } from '../../page-data.js';
import { button, h } from '../dom.js';
import { queryTerm } from '../gallery/query-rows.js';
import { thumbnail } from '../rows/draw-thumbnail.js';
import type { Page } from '../page.js';
import { BlindComparison } from './blind-comparison.js';
import { variantGroups, type VariantGroup, type VariantGroups } from './variant-groups.js';

/** A page of the grid ends with the original that reaches this number of rows. */
const cellsAPage = 144;
const mostValues = 12;
/** Rows that also differ in another column share a cell: this many are shown, the others are counted. */
const mostInPlace = 4;

interface Shown {
  readonly groups: VariantGroups;
  readonly values: readonly string[];
  readonly by: string;
}

/** A grid with one line for each original and one column for each value: all results of an original are in one line. */
export class VariantGrid {
  readonly element = h('div', { class: 'variants', hidden: true });
  readonly #page: Page;
  readonly #find: (query: string) => void;
  readonly #body = h('tbody');
  readonly #more = button(() => void this.#add(), { class: 'more' }, 'Show more');
  #cells: VariantCell[] = [];
  #shown: Shown | undefined;
  /** How many originals are drawn. */
  #drawn = 0;
  /** Counts the updates, so that an outdated update draws nothing. */
  #turn = 0;

  /** @param find shows the rows of a query in the gallery */
  constructor(page: Page, find: (query: string) => void) {
    [this.#page, this.#find] = [page, find];
  }

  async show(found: readonly number[], by: string): Promise<void> {
    const turn = ++this.#turn;
    const { store, data } = this.#page;
    const groups = variantGroups(found, by, await store.facets(), data.run.axes);
    if (turn !== this.#turn) return;
    const focused = this.element.contains(document.activeElement) ? document.activeElement?.id : undefined;
    this.#shown = { groups, values: groups.values.slice(0, mostValues), by };
    [this.#cells, this.#drawn] = [[], 0];
    this.#body.replaceChildren();
    await this.#add();
    if (turn !== this.#turn) return;
    this.element.replaceChildren(...drawTable(this.#shown, this.#body, () => this.#compare()), this.#more);
    if (focused !== undefined && focused !== '')
      document.getElementById(focused)?.focus({ preventScroll: true });
  }

  /** A verdict redraws only the cells of its rows. */
  showReviews(): void {
    if (this.element.hidden) return;
    for (const cell of this.#cells) cell.show(this.#page.reviews.of(cell.row));
  }

  /** Draws the next originals below the others. */
  async #add(): Promise<void> {
    const shown = this.#shown;
    if (shown === undefined) return;
    const next = nextGroups(shown, this.#drawn);
    this.#drawn += next.length;
    this.#more.hidden = this.#drawn >= shown.groups.groups.length;
    const places = next.flatMap((group) => shown.values.flatMap((value) => inPlace(group, value)));
    const rows = await this.#page.store.load(places);
    if (shown !== this.#shown) return;
    const cells = new Map(
      rows.map((row, index) => {
        const place = places[index] ?? -1;
        const open = (): void => this.#page.openLarge(place);
        return [place, new VariantCell(place, row, this.#page.reviews.of(row), open)] as const;
      }),
    );
    this.#cells.push(...cells.values());
    this.#body.append(...next.map((group) => this.#drawGroup(group, shown, cells)));
  }

  #drawGroup(group: VariantGroup, shown: Shown, all: ReadonlyMap<number, VariantCell>): HTMLElement {
    const { original, others, byValue } = group;
    const drawn = shown.values.map((value) => inPlace(group, value).flatMap((place) => all.get(place) ?? []));
    const cells = shown.values.map((value, index) => {
      const rest = (byValue.get(value)?.length ?? 0) - mostInPlace;
      const find = (): void =>
        this.#find(
          [[originalColumn, original] as const, ...others, [shown.by, value] as const]
            .map(([name, text]) => queryTerm(name, text))
            .join(' '),
        );
      const elements = (drawn[index] ?? []).map(({ element }) => element);
      const more = button(find, { class: 'plain rest' }, `${formatCount(rest)} more`);
      return h('td', {}, h('div', {}, ...elements), rest > 0 && more);
    });
    const picture = thumbnail(drawn.flat()[0]?.row.references[0]?.thumb, '');
    const names = [original, ...others.map(([axis, value]) => `${axis} ${value}`)];
    const spans = names.map((name) => h('span', {}, name));
    const head = h('th', { scope: 'row', title: names.join(', ') }, picture, ...spans);
    return h('tr', {}, head, ...cells);
  }

  #compare(): void {
    if (this.#shown === undefined) return;
    new BlindComparison(this.#page, this.#shown.groups, this.#shown.by).start();
  }
}

function drawTable({ groups, values, by }: Shown, body: HTMLElement, compare: () => void): HTMLElement[] {
  const blind = button(compare, { class: 'strong', disabled: values.length < 2 }, 'Compare blind');
  const originals = new Set(groups.groups.map(({ original }) => original)).size;
  const words = [
    countOf(originals, 'original'),
    ...otherAxes(groups.groups).map(([name, count]) => `${countOf(count, 'value')} of ${name}`),
    `${countOf(groups.values.length, 'value')} of ${by}`,
  ].join(' × ');
  const rest = groups.values.length - values.length;
  const head = values.map((value) => h('th', { scope: 'col', title: value }, h('span', {}, value)));
  return [
    h('p', { class: 'lead' }, words, rest > 0 && `, ${formatCount(rest)} more are not shown`, ' ', blind),
    h(
      'div',
      { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': `Variants by ${by}` },
      h('table', {}, h('thead', {}, h('tr', {}, h('td', {}), ...head)), body),
    ),
  ];
}

/** The axes that are not across, with their numbers of values: a line of the grid has one value of each. */
function otherAxes(groups: readonly VariantGroup[]): [name: string, count: number][] {
  const axes = new Map<string, Set<string>>();
  for (const [name, value] of groups.flatMap(({ others }) => others))
    axes.set(name, (axes.get(name) ?? new Set()).add(value));
  return [...axes].map(([name, values]) => [name, values.size]);
}

/** The next groups for the grid, at least one. */
function nextGroups({ groups, values }: Shown, from: number): VariantGroup[] {
  let cells = 0;
  const next: VariantGroup[] = [];
  for (let place = from; place < groups.groups.length && cells < cellsAPage; place++) {
    const group = groups.groups[place] as VariantGroup;
    next.push(group);
    for (const value of values) cells += inPlace(group, value).length;
  }
  return next;
}

function inPlace({ byValue }: VariantGroup, value: string): readonly number[] {
  return byValue.get(value)?.slice(0, mostInPlace) ?? [];
}

/** One row in the grid of variants. A verdict does not redraw its picture. */
class VariantCell {
  readonly element: HTMLElement;
  readonly row: PageRow;
  readonly #name = h('span', { class: 'unseen' });
  readonly #stars = h('span', { class: 'stars', role: 'img' });
  #review: Review | undefined;

  constructor(place: number, row: PageRow, review: Review | undefined, open: () => void) {
    this.row = row;
    this.element = button(
      open,
      { class: 'cell', id: `variant-${place}` },
      this.#name,
      resultContent(row),
      this.#stars,
    );
    this.#draw(review);
  }

  show(review: Review | undefined): void {
    if (review !== this.#review) this.#draw(review);
  }

  #draw(review: Review | undefined): void {
    this.#review = review;
    const label = [this.row.id, statusLabel(this.row.status), review?.verdict ?? ''];
    this.#name.textContent = label.filter((part) => part !== '').join(', ');
    showReview(review, this.element, this.element, this.#stars);
  }
}
