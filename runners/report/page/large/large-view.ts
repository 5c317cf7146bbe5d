import { shellWords } from '../../../batch/manifest/quote-value.js';
import type { PageRow, RunFacts } from '../../page-data.js';
import { h, setAddress } from '../dom.js';
import { drawFacts, drawStatus } from './draw-facts.js';
import { drawEarlier, drawPictures } from './draw-pictures.js';
import { canRepeat } from '../rejections.js';
import { NextForm } from './next-form.js';
import type { Page } from '../page.js';

export interface LargeViewNeeds {
  /** The row before or after, among those found. */
  neighbour(index: number, by: number): number | undefined;
  closed(index: number): void;
  /** By its number in the manifest. */
  opened(row: number): void;
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
    this.#dialog = h('dialog', { class: 'large', tabindex: '-1', oncancel: cancel });
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
    this.#dialog.setAttribute('aria-label', `Row ${row.row}, ${row.id}`);
    if (!this.#dialog.open) this.#dialog.showModal();
    // A dialog that has the focus is announced by its row, and no button in it has a ring.
    this.#dialog.focus();
    this.#needs.opened(row.row);
    void this.#preload();
  }

  /** The pictures before and after are in the browser's cache when they are asked for. */
  async #preload(): Promise<void> {
    const near = [1, -1].flatMap((by) => this.#needs.neighbour(this.#index, by) ?? []);
    for (const { picture } of await this.#page.store.load(near))
      if (picture?.path !== undefined) setAddress(new Image(), picture.path);
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
      drawStatus(row, this.#page.data.run.isRehearsal),
      this.#form?.element ?? drawWhyNot(row, this.#page.data.run),
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

function drawWhyNot(row: PageRow, run: RunFacts): HTMLElement {
  const prompt = row.cells?.['prompt'];
  return h(
    'div',
    { class: 'next' },
    typeof prompt === 'string' && h('p', {}, prompt),
    h('p', { class: 'price' }, whyNot(row, run)),
  );
}

/** Why a row cannot be redone from here, and what to do instead. */
function whyNot({ status, error }: PageRow, { folder, isRehearsal }: RunFacts): string {
  if (error === undefined || error.paid === 'no') return 'Too long to edit here. Change it in the manifest.';
  if (status === 'download')
    return isRehearsal
      ? 'The download failed. In a real run the picture would wait at the service for 7 days.'
      : `Paid, but the download failed. Download it for free: ${shellWords('millrace', 'refetch', folder)}`;
  if (status === 'deadline')
    return 'It may still be running. Run again: it is asked for first, and nothing is bought.';
  if (status === 'unknown')
    return `In doubt: it may have been charged. Look at your account; \`${shellWords('millrace', 'settle', folder)}\` lists the ways to decide.`;
  return `This row may be paid for, so it is not redone from here. Buy it again with --retry ${status}.`;
}
