import { countOf, formatCount } from '../../messages/format-amounts.js';
import { button, h, keySign, openDialog } from '../dom.js';
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
    this.#dialog.addEventListener('keydown', (event) => this.#key(event));
  }

  start(): void {
    openDialog(this.#dialog);
    void this.#next();
  }

  #key(event: KeyboardEvent): void {
    const isUndo = (event.ctrlKey || event.metaKey) && event.key === 'z';
    if (!isUndo && (event.ctrlKey || event.metaKey || event.altKey)) return;
    const pair = this.#pairs[this.#votes.length];
    if (isUndo) this.#votes.pop();
    else if (pair === undefined) return;
    else {
      const winner = { 1: pair.left.place, 2: pair.right.place, 0: -1 }[event.key];
      if (winner === undefined) return;
      this.#votes.push({ pair, winner });
    }
    event.preventDefault();
    event.stopPropagation();
    void this.#next();
  }

  #vote(pair: VariantPair, winner: number): void {
    this.#votes.push({ pair, winner });
    void this.#next();
  }

  async #next(): Promise<void> {
    const at = this.#votes.length;
    const pair = this.#pairs[at];
    if (pair === undefined) return this.#drawEnd();
    const rows = await this.#page.store.load([pair.left.place, pair.right.place]);
    if (at !== this.#votes.length) return;
    const sides = [
      ['Left', pair.left],
      ['Right', pair.right],
    ] as const;
    const pictures = sides.map(([name, { place }], index) =>
      button(
        () => this.#vote(pair, place),
        { class: 'side', 'aria-label': name },
        largePicture(rows[index]?.picture?.path, rows[index]?.picture?.thumb, ''),
      ),
    );
    const vote = (sign: string, label: string, winner: number): HTMLElement =>
      button(() => this.#vote(pair, winner), {}, label, keySign(sign));
    this.#dialog.replaceChildren(
      h(
        'div',
        { class: 'bar' },
        h('p', { role: 'status' }, `${formatCount(at + 1)} of ${formatCount(this.#pairs.length)}`),
        vote('1', 'Left', pair.left.place),
        vote('2', 'Right', pair.right.place),
        vote('0', 'Neither', -1),
        button(() => this.#drawEnd(), {}, 'Show the result'),
        button(() => this.#dialog.close(), {}, 'Close', keySign('Esc')),
      ),
      h('div', { class: 'sides' }, ...pictures),
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
          button(() => void keep(), { class: 'strong' }, `Keep the ${countOf(winners.length, 'winner')}`),
        button(() => this.#dialog.close(), {}, 'Close'),
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
