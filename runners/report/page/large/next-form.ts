import type { PageRow } from '../../page-data.js';
import { formatPrice } from '../../messages/format-amounts.js';
import { h } from '../dom.js';
import { type Rejection } from '../redo-manifest.js';
import { priceOf, resolutionOf } from '../rejections.js';
import type { Page } from '../page.js';
import { promptOf } from '../row-store.js';

/** What to ask for next time: a changed prompt or resolution rejects the picture as well. */
export class NextForm {
  readonly element: HTMLElement;
  readonly #row: PageRow;
  readonly #page: Page;
  readonly #reject: HTMLButtonElement;
  readonly #price = h('span', { class: 'price', role: 'status' });

  constructor(row: PageRow, page: Page) {
    this.#row = row;
    this.#page = page;
    const rejection = page.rejections.of(row);
    const prompt = rejection?.prompt ?? promptOf(row);
    this.#reject = h('button', {
      type: 'button',
      class: 'reject',
      onclick: () => page.toggle(row),
    });
    this.element = h(
      'form',
      { class: 'next', onsubmit: (event: Event) => event.preventDefault() },
      ...(prompt === undefined ? [] : this.#drawPrompt(prompt)),
      row.kind === 'edit' && this.#drawResolutions(rejection?.resolution ?? resolutionOf(row) ?? '1k'),
      h('p', { class: 'decide' }, this.#reject, this.#price),
    );
  }

  show(rejection: Rejection | undefined): void {
    this.#reject.setAttribute('aria-pressed', String(rejection !== undefined));
    this.#reject.replaceChildren(
      rejection === undefined ? 'Reject' : 'Rejected',
      h('kbd', { 'aria-hidden': 'true' }, 'x'),
    );
    const price =
      rejection === undefined ? priceOf(this.#row, undefined, this.#page.data.prices) : rejection.cost;
    const words = price === null ? 'price not known' : formatPrice(price);
    const { isRehearsal } = this.#page.data.run;
    this.#price.textContent = `Redo: ${isRehearsal ? 'rehearsal, nothing spent' : words}`;
  }

  #drawPrompt(prompt: string): HTMLElement[] {
    const area = h('textarea', {
      id: 'next-prompt',
      rows: 4,
      oninput: () => this.#page.rejections.change(this.#row, { prompt: area.value }),
    });
    area.value = prompt;
    return [h('label', { for: 'next-prompt' }, 'Prompt'), area];
  }

  #drawResolutions(chosen: string): HTMLElement {
    const choices = ['1k', '2k', '4k'].map((resolution) => {
      const choose = (): void => this.#page.rejections.change(this.#row, { resolution });
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
