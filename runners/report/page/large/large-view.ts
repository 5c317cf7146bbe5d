import type { PageRow } from '../../page-data.js';
import { h } from '../dom.js';
import { drawFacts, drawStatus } from './draw-facts.js';
import { drawEarlier, drawPictures } from './draw-pictures.js';
import { canRepeat } from '../rejections.js';
import { NextForm } from './next-form.js';
import type { Page } from '../page.js';

export interface LargeViewNeeds {
  /** The row before or after, among those found. */
  neighbour(index: number, by: number): number | undefined;
  closed(index: number): void;
}

/** One row at full size: references and result, what was asked for, what it cost, and what to ask for next time. */
export class LargeView {
  readonly #dialog: HTMLDialogElement;
  readonly #page: Page;
  readonly #needs: LargeViewNeeds;
  #index = -1;
  #row: PageRow | undefined;
  #form: NextForm | undefined;

  constructor(root: HTMLElement, page: Page, needs: LargeViewNeeds) {
    this.#page = page;
    this.#needs = needs;
    const cancel = (event: Event): void => {
      event.preventDefault();
      this.close();
    };
    this.#dialog = h('dialog', { class: 'large', 'aria-label': 'Large view', oncancel: cancel });
    root.replaceChildren(this.#dialog);
  }

  get isOpen(): boolean {
    return this.#dialog.open;
  }

  async open(index: number): Promise<void> {
    this.#index = index;
    const [row] = await this.#page.store.load([index]);
    if (row === undefined || this.#index !== index) return;
    this.#row = row;
    this.#dialog.replaceChildren(
      drawPictures(row, (on) => this.compare(on)),
      this.#drawPanel(row),
    );
    this.showRejection();
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.querySelector<HTMLElement>('.close')?.focus();
  }

  close(): void {
    if (!this.#dialog.open) return;
    this.#dialog.close();
    this.#needs.closed(this.#index);
  }

  step(by: number): void {
    const to = this.#needs.neighbour(this.#index, by);
    if (to !== undefined) void this.open(to);
  }

  toggle(): void {
    if (this.#row !== undefined) this.#page.toggle(this.#row);
  }

  editPrompt(): void {
    this.#dialog.querySelector('textarea')?.focus();
  }

  /** Puts the reference in the place of the result as long as it is asked for. */
  compare(on: boolean): void {
    this.#dialog.querySelector('.stage')?.classList.toggle('comparing', on);
  }

  /** Rows that ended meanwhile have moved it. */
  rowsChanged(): void {
    if (this.#row !== undefined) this.#index = this.#page.store.placeOf(this.#row.row) ?? this.#index;
  }

  showRejection(): void {
    if (this.#row === undefined) return;
    const rejection = this.#page.rejections.of(this.#row);
    this.#dialog.classList.toggle('rejected', rejection !== undefined);
    this.#form?.show(rejection);
  }

  #drawPanel(row: PageRow): HTMLElement {
    this.#form = canRepeat(row) ? new NextForm(row, this.#page) : undefined;
    return h(
      'div',
      { class: 'panel' },
      this.#drawSteps(row),
      h('h2', {}, row.id),
      drawStatus(row),
      this.#form?.element ?? drawWhyNot(row),
      drawFacts(row),
      row.earlier !== undefined && drawEarlier(row.earlier),
    );
  }

  #drawSteps(row: PageRow): HTMLElement {
    const step = (label: string, sign: string, by: number): HTMLElement =>
      h(
        'button',
        {
          type: 'button',
          'aria-label': label,
          disabled: this.#needs.neighbour(this.#index, by) === undefined,
          onclick: () => this.step(by),
        },
        sign,
      );
    const close = h(
      'button',
      { type: 'button', class: 'close', onclick: () => this.close() },
      'Close',
      h('kbd', { 'aria-hidden': 'true' }, 'esc'),
    );
    return h(
      'div',
      { class: 'steps' },
      step('Previous', '←', -1),
      step('Next', '→', 1),
      h('span', { class: 'number' }, row.row),
      close,
    );
  }
}

function drawWhyNot(row: PageRow): HTMLElement {
  const paid = row.error !== undefined && row.error.paid !== 'no';
  const why = paid
    ? 'This row may be paid for: the run takes it up, or "millrace settle" ends it.'
    : 'This row is too long to be repeated from here: repeat it from its manifest.';
  const prompt = row.cells?.['prompt'];
  return h(
    'div',
    { class: 'next' },
    typeof prompt === 'string' && h('p', {}, prompt),
    h('p', { class: 'price' }, why),
  );
}
