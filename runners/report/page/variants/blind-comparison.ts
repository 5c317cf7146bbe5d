import type { PageRow } from '../../page-data.js';
import { countOf, formatCount } from '../../messages/format-amounts.js';
import { h } from '../dom.js';
import { largePicture } from '../large/large-picture.js';
import type { Page } from '../page.js';
import { shuffledPairs, type VariantGroups, type VariantPair } from './variant-groups.js';

/** The index of the row that won, or -1. */
interface Vote {
  readonly pair: VariantPair;
  readonly winner: number;
}

/** Shows two variants of one original at a time, without their names. 1 and 2 choose one; the result at the end names the values. */
export class BlindComparison {
  readonly #page: Page;
  readonly #by: string;
  readonly #pairs: readonly VariantPair[];
  readonly #votes: Vote[] = [];
  readonly #dialog: HTMLDialogElement;
  #opener: HTMLElement | undefined;

  constructor(page: Page, groups: VariantGroups, by: string, random: () => number = Math.random) {
    [this.#page, this.#by] = [page, by];
    const { data, store } = page;
    const isCompleted = (place: number): boolean =>
      data.classes[store.classOf(place)]?.status === 'completed';
    this.#pairs = shuffledPairs(groups, random, isCompleted);
    this.#dialog = h('dialog', {
      class: 'large blind',
      tabindex: '-1',
      'aria-label': `Blind comparison by ${by}`,
    });
    this.#dialog.addEventListener('close', () => this.#dialog.remove());
    this.#dialog.addEventListener('keydown', (event) => this.#key(event));
  }

  start(): void {
    if (document.activeElement instanceof HTMLElement) this.#opener = document.activeElement;
    document.body.append(this.#dialog);
    this.#dialog.addEventListener('close', () => this.#opener?.focus());
    this.#dialog.showModal();
    void this.#next();
  }

  #key(event: KeyboardEvent): void {
    const isUndo = (event.ctrlKey || event.metaKey) && event.key === 'z';
    if (!isUndo && (event.ctrlKey || event.metaKey || event.altKey)) return;
    const pair = this.#pairs[this.#votes.length];
    if (isUndo) this.#votes.pop();
    else if (pair === undefined) return;
    else if (event.key === '1') this.#votes.push({ pair, winner: pair.left.place });
    else if (event.key === '2') this.#votes.push({ pair, winner: pair.right.place });
    else if (event.key === '0') this.#votes.push({ pair, winner: -1 });
    else return;
    event.preventDefault();
    event.stopPropagation();
    void this.#next();
  }

  async #next(): Promise<void> {
    const at = this.#votes.length;
    const pair = this.#pairs[at];
    if (pair === undefined) return this.#drawEnd();
    const rows = await this.#page.store.load([pair.left.place, pair.right.place]);
    if (at !== this.#votes.length) return;
    const [left, right] = rows.map((row, index) => this.#drawSide(row, pair, index === 0));
    const vote = (sign: string, label: string, winner: number): HTMLElement =>
      h(
        'button',
        { type: 'button', onclick: () => (this.#votes.push({ pair, winner }), void this.#next()) },
        label,
        h('kbd', {}, sign),
      );
    this.#dialog.replaceChildren(
      h(
        'div',
        { class: 'bar' },
        h('p', { role: 'status' }, `${formatCount(at + 1)} of ${formatCount(this.#pairs.length)}`),
        vote('1', 'Left', pair.left.place),
        vote('2', 'Right', pair.right.place),
        vote('0', 'Neither', -1),
        h('button', { type: 'button', onclick: () => this.#drawEnd() }, 'Show the result'),
        h('button', { type: 'button', onclick: () => this.#dialog.close() }, 'Close', h('kbd', {}, 'Esc')),
      ),
      h('div', { class: 'sides' }, left, right),
    );
    this.#dialog.focus();
    const next = this.#pairs[at + 1];
    if (next !== undefined) await this.#preload([next.left.place, next.right.place]);
  }

  async #preload(places: readonly number[]): Promise<void> {
    for (const row of await this.#page.store.load(places))
      await largePicture(row.picture?.path, row.picture?.thumb, '')
        .decode()
        .catch(() => undefined);
  }

  #drawSide(row: PageRow, pair: VariantPair, isLeft: boolean): HTMLElement {
    const choose = (): void => {
      this.#votes.push({ pair, winner: isLeft ? pair.left.place : pair.right.place });
      void this.#next();
    };
    return h(
      'button',
      { type: 'button', class: 'side', 'aria-label': isLeft ? 'Left' : 'Right', onclick: choose },
      largePicture(row.picture?.path, row.picture?.thumb, ''),
    );
  }

  #drawEnd(): void {
    const lines = tally(this.#votes).map(({ value, won, shown }) =>
      h('tr', {}, h('th', { scope: 'row' }, value), h('td', {}, won), h('td', {}, shown)),
    );
    const winners = [...new Set(this.#votes.map(({ winner }) => winner))].filter(
      (place) => place >= 0 && !this.#votes.some(({ pair, winner }) => lost(place, pair, winner)),
    );
    const keep = async (): Promise<void> => {
      this.#page.decide(await this.#page.store.load(winners), 'kept');
      this.#dialog.close();
    };
    this.#dialog.replaceChildren(
      h(
        'div',
        { class: 'result-of' },
        h('h2', {}, `${countOf(this.#votes.length, 'pair')} compared by ${this.#by}`),
        h(
          'table',
          {},
          h(
            'thead',
            {},
            h('tr', {}, h('td', {}), h('th', { scope: 'col' }, 'Chosen'), h('th', { scope: 'col' }, 'Shown')),
          ),
          h('tbody', {}, ...lines),
        ),
        winners.length > 0 &&
          h(
            'button',
            { type: 'button', class: 'strong', onclick: () => void keep() },
            `Keep the ${countOf(winners.length, 'winner')}`,
          ),
        h('button', { type: 'button', onclick: () => this.#dialog.close() }, 'Close'),
      ),
    );
    this.#dialog.focus();
  }
}

function lost(place: number, { left, right }: VariantPair, winner: number): boolean {
  return (left.place === place || right.place === place) && winner !== place;
}

/** How often each value was chosen, the most frequent first. */
function tally(votes: readonly Vote[]): { value: string; won: number; shown: number }[] {
  const byValue = new Map<string, { value: string; won: number; shown: number }>();
  for (const { pair, winner } of votes)
    for (const { value, place } of [pair.left, pair.right]) {
      const line = byValue.get(value) ?? { value, won: 0, shown: 0 };
      byValue.set(value, { value, won: line.won + Number(place === winner), shown: line.shown + 1 });
    }
  return [...byValue.values()].sort((one, other) => other.won - one.won);
}
