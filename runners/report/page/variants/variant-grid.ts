import type { PageRow } from '../../page-data.js';
import { countOf, formatCount } from '../../messages/format-amounts.js';
import { statusLabel } from '../../messages/status-label.js';
import { check, h, pencilCross } from '../dom.js';
import { resultContent } from '../gallery/frame.js';
import { thumbnail } from '../rows/draw-thumbnail.js';
import type { Page } from '../page.js';
import { BlindComparison } from './blind-comparison.js';
import { variantGroups, type VariantGroup, type VariantGroups } from './variant-groups.js';

const groupsAPage = 24;
const mostValues = 12;

/** Originals down, the values of one column across: what was made of each picture stands side by side. */
export class VariantGrid {
  readonly element = h('div', { class: 'variants', hidden: true });
  readonly #page: Page;
  #shown: { groups: VariantGroups; by: string; rows: Map<number, PageRow>; count: number } | undefined;
  /** An update that has been overtaken draws nothing. */
  #turn = 0;

  constructor(page: Page) {
    this.#page = page;
  }

  async show(found: readonly number[], by: string): Promise<void> {
    const turn = ++this.#turn;
    const groups = variantGroups(found, by, await this.#page.store.facets());
    const rows = await this.#load(groups, 0);
    if (turn !== this.#turn) return;
    this.#shown = { groups, by, rows, count: groupsAPage };
    this.#draw();
  }

  showReviews(): void {
    if (!this.element.hidden) this.#draw();
  }

  async #load({ groups, values }: VariantGroups, from: number): Promise<Map<number, PageRow>> {
    const shown = new Set(values.slice(0, mostValues));
    const places = groups
      .slice(from, from + groupsAPage)
      .flatMap(({ byValue }) => [...byValue].flatMap(([value, all]) => (shown.has(value) ? all : [])));
    const rows = await this.#page.store.load(places);
    return new Map(rows.flatMap((row, index) => [[places[index] ?? -1, row] as const]));
  }

  #draw(): void {
    if (this.#shown === undefined) return;
    const { groups, by, count } = this.#shown;
    const values = groups.values.slice(0, mostValues);
    const compare = h(
      'button',
      { type: 'button', class: 'strong', disabled: values.length < 2, onclick: () => this.#compare() },
      'Compare blind',
    );
    const words = `${countOf(groups.groups.length, 'original')}, ${countOf(groups.values.length, 'value')} of ${by}`;
    const rest = groups.values.length - values.length;
    const head = values.map((value) => h('th', { scope: 'col', title: value }, h('span', {}, value)));
    const body = groups.groups.slice(0, count).map((group) => this.#drawGroup(group, values));
    const focused = this.element.contains(document.activeElement)
      ? (document.activeElement as HTMLElement).id
      : '';
    this.element.replaceChildren(
      h('p', { class: 'lead' }, words, rest > 0 && `, ${formatCount(rest)} more are not shown`, ' ', compare),
      h(
        'div',
        { class: 'scroll', tabindex: '0', role: 'group', 'aria-label': `Variants by ${by}` },
        h('table', {}, h('thead', {}, h('tr', {}, h('td', {}), ...head)), h('tbody', {}, ...body)),
      ),
      groups.groups.length > count
        ? h('button', { type: 'button', class: 'more', onclick: () => void this.#more() }, 'Show more')
        : '',
    );
    if (focused !== '') document.getElementById(focused)?.focus({ preventScroll: true });
  }

  #drawGroup({ original, byValue }: VariantGroup, values: readonly string[]): HTMLElement {
    const rows = this.#shown?.rows;
    const first = [...byValue.values()].flat()[0];
    const reference = rows?.get(first ?? -1)?.references[0];
    const picture = thumbnail(reference?.thumb, '');
    const cells = values.map((value) => {
      const places = byValue.get(value) ?? [];
      return h('td', {}, ...places.map((place) => this.#drawCell(place, rows?.get(place))));
    });
    return h(
      'tr',
      {},
      h('th', { scope: 'row', title: original }, picture, h('span', {}, original)),
      ...cells,
    );
  }

  #drawCell(place: number, row: PageRow | undefined): HTMLElement | false {
    if (row === undefined) return false;
    const review = this.#page.reviews.of(row);
    const label = [row.id, statusLabel(row.status), review?.verdict ?? ''].filter((part) => part !== '');
    return h(
      'button',
      {
        type: 'button',
        id: `variant-${place}`,
        class: `cell ${review?.verdict ?? ''}`,
        onclick: () => this.#page.openLarge(place),
      },
      h('span', { class: 'unseen' }, label.join(', ')),
      resultContent(row),
      review?.verdict === 'rejected' && pencilCross(),
      review?.verdict === 'kept' && check(),
      review?.stars !== undefined && h('span', { class: 'stars' }, '★'.repeat(review.stars)),
    );
  }

  async #more(): Promise<void> {
    if (this.#shown === undefined) return;
    const { groups, rows, count } = this.#shown;
    for (const [place, row] of await this.#load(groups, count)) rows.set(place, row);
    this.#shown = { ...this.#shown, count: count + groupsAPage };
    this.#draw();
  }

  #compare(): void {
    if (this.#shown === undefined) return;
    new BlindComparison(this.#page, this.#shown.groups, this.#shown.by).start();
  }
}
