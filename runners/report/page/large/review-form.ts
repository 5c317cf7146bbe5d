import { formatMoney } from '../../../../src/contract/micro-dollars.js';
import { countOf } from '../../messages/format-amounts.js';
import type { PageRow } from '../../page-data.js';
import { button, h, keySign } from '../dom.js';
import type { Page } from '../page.js';
import type { Review, Verdict } from '../review/redo-manifest.js';
import { canDecide, canRepeat, priceOf, resolutionOf } from '../review/reviews.js';
import { promptOf } from '../rows/row-store.js';

const verdicts = [
  ['kept', 'keep', 'Keep', 'Kept', 'P'],
  ['rejected', 'reject', 'Reject', 'Rejected', 'X'],
] as const;

/** Verdict, stars and note of a person, and changes for a redo: a changed prompt or resolution rejects the picture. */
export class ReviewForm {
  readonly element: HTMLElement;
  readonly #row: PageRow;
  readonly #page: Page;
  readonly #buttons: readonly HTMLButtonElement[];
  readonly #stars: readonly HTMLButtonElement[];
  readonly #price = h('span', { class: 'price', role: 'status' });
  readonly #note: HTMLInputElement;
  readonly #prompt: HTMLTextAreaElement | undefined;

  constructor(row: PageRow, page: Page, decide: (verdict: Verdict) => void) {
    [this.#row, this.#page] = [row, page];
    const review = page.reviews.of(row);
    this.#buttons = verdicts.map(([verdict, name]) =>
      button(() => decide(verdict), { class: name, hidden: !canDecide(row, verdict) }),
    );
    this.#stars = [1, 2, 3, 4, 5].map((count) =>
      button(() => this.#rate(count), { 'aria-label': countOf(count, 'star') }, '★'),
    );
    this.#note = h('input', {
      type: 'text',
      id: 'row-note',
      placeholder: 'Note',
      'aria-label': 'Note',
      autocomplete: 'off',
      maxlength: 500,
      oninput: () => page.reviews.change([row], { note: this.#note.value }),
    });
    const prompt = canRepeat(row) ? (review?.prompt ?? promptOf(row)) : undefined;
    this.#prompt = prompt === undefined ? undefined : this.#promptArea();
    this.element = h(
      'form',
      { class: 'next', onsubmit: (event: Event) => event.preventDefault() },
      h('p', { class: 'decide' }, ...this.#buttons),
      h(
        'p',
        { class: 'rate' },
        h('span', { class: 'stars-of', role: 'group', 'aria-label': 'Stars' }, ...this.#stars),
        this.#note,
      ),
      this.#prompt && h('label', { for: 'next-prompt' }, 'Prompt'),
      this.#prompt,
      canRepeat(row) &&
        row.kind === 'edit' &&
        this.#drawResolutions(review?.resolution ?? resolutionOf(row) ?? '1k'),
      canRepeat(row) && h('p', {}, this.#price),
    );
    this.show(review);
  }

  show(review: Review | undefined): void {
    for (const [index, button] of this.#buttons.entries()) {
      const [verdict, , name, done, key] = verdicts[index] ?? verdicts[0];
      const isPressed = review?.verdict === verdict;
      button.setAttribute('aria-pressed', String(isPressed));
      button.replaceChildren(isPressed ? done : name, keySign(key));
    }
    for (const [index, star] of this.#stars.entries())
      star.setAttribute('aria-pressed', String(index < (review?.stars ?? 0)));
    showText(this.#note, review?.note ?? '');
    if (this.#prompt !== undefined) showText(this.#prompt, review?.prompt ?? promptOf(this.#row) ?? '');
    const resolution = review?.resolution ?? resolutionOf(this.#row) ?? '1k';
    for (const choice of this.element.querySelectorAll<HTMLInputElement>('[name=resolution]'))
      choice.checked = choice.value === resolution;
    const price = priceOf(this.#row, review?.resolution, this.#page.data.prices);
    const words = price === null ? 'price not known' : formatMoney(price);
    const { isRehearsal } = this.#page.data.run;
    this.#price.textContent = `Redo: ${isRehearsal ? 'rehearsal, nothing spent' : words}`;
  }

  #rate(count: number): void {
    const stars = this.#page.reviews.of(this.#row)?.stars === count ? null : count;
    this.#page.reviews.change([this.#row], { stars });
  }

  #promptArea(): HTMLTextAreaElement {
    const area = h('textarea', {
      id: 'next-prompt',
      rows: 3,
      oninput: () => this.#page.reviews.change([this.#row], { prompt: area.value }),
    });
    return area;
  }

  #drawResolutions(chosen: string): HTMLElement {
    const choices = ['1k', '2k', '4k'].map((resolution) => {
      const choose = (): void => this.#page.reviews.change([this.#row], { resolution });
      const input = h('input', {
        type: 'radio',
        name: 'resolution',
        value: resolution,
        checked: resolution === chosen,
        onchange: choose,
      });
      return h('label', {}, input, h('span', {}, resolution));
    });
    return h('fieldset', { class: 'resolutions' }, h('legend', {}, 'Resolution'), ...choices);
  }
}

/** The cursor stays in place in a field that already has this text. */
function showText(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  if (field.value !== text) field.value = text;
}
