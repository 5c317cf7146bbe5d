import type { PageRow } from '../../page-data.js';
import { formatCount } from '../../messages/format-amounts.js';
import { button, h, keySign } from '../dom.js';
import type { Gallery } from '../gallery/gallery.js';
import type { Page } from '../page.js';
import type { Verdict } from '../review/redo-manifest.js';
import { canDecide, canRepeat } from '../review/reviews.js';
import { drawFacts, drawStatus, drawWhyNot } from './draw-facts.js';
import { PictureArea } from './picture-area.js';
import { drawSavedFiles } from './saved-files.js';
import { ReviewForm } from './review-form.js';

/** One row at full size: its references, request, cost and verdict. It goes through the rows that the gallery has found. */
export class LargeView {
  readonly area = new PictureArea();
  readonly #dialog: HTMLDialogElement;
  readonly #page: Page;
  readonly #gallery: () => Gallery;
  readonly #panel = h('div', { class: 'panel' });
  readonly #progress = h('p', { class: 'progress', role: 'status' });
  #index = -1;
  #row: PageRow | undefined;
  #form: ReviewForm | undefined;

  constructor(root: HTMLElement, page: Page, gallery: () => Gallery) {
    [this.#page, this.#gallery] = [page, gallery];
    const cancel = (event: Event): void => {
      event.preventDefault();
      this.close();
    };
    this.#dialog = h(
      'dialog',
      { class: 'large of-row', tabindex: '-1', oncancel: cancel },
      this.area.element,
      this.#panel,
    );
    root.replaceChildren(this.#dialog);
  }

  get isOpen(): boolean {
    return this.#dialog.open;
  }

  /** Resolves once the row is in sight. */
  async open(index: number): Promise<void> {
    this.#index = index;
    const [row] = await this.#page.store.load([index]);
    if (row === undefined || this.#index !== index) return;
    this.#row = row;
    this.area.show(row);
    this.#drawPanel(row);
    this.#dialog.setAttribute('aria-label', `Row ${row.row}, ${row.id}`);
    if (!this.#dialog.open) this.#dialog.showModal();
    this.showReview();
    // A screen reader announces a focused dialog by its row, and no button has a focus ring.
    this.#dialog.focus();
    this.#page.address.set({ row: row.row });
    void this.#prepareNeighbours(index);
  }

  close(): void {
    if (!this.#dialog.open) return;
    this.#dialog.close();
    this.#page.address.set({ row: undefined });
    this.#gallery().showReviews();
    void this.#gallery().cursor.goTo(this.#index);
  }

  step(by: number): void {
    const to = this.#neighbour(by);
    if (to !== undefined) void this.open(to);
  }

  /** Gives the verdict and goes to the next row; after the last one, to a row that was left out. */
  decide(verdict: Verdict | null): void {
    const row = this.#inSight();
    if (row === undefined || (verdict !== null && !canDecide(row, verdict))) return;
    this.#page.decide([row], verdict);
    if (verdict === null) return;
    const next = this.#neighbour(1) ?? this.#gallery().undecided()[0];
    if (next !== undefined) void this.open(next);
  }

  rate(stars: number | null): void {
    const row = this.#inSight();
    if (row !== undefined) this.#page.reviews.change([row], { stars });
  }

  focusField(name: 'next-prompt' | 'row-note'): void {
    this.#dialog.querySelector<HTMLElement>(`#${name}`)?.focus();
  }

  /** Goes to the row of an undone change. */
  goTo(row: number): void {
    const index = this.#page.store.placeOf(row);
    if (this.isOpen && index !== undefined && row !== this.#row?.row) void this.open(index);
  }

  /** Rows that ended in between have moved it. */
  rowsChanged(): void {
    if (this.#row !== undefined) this.#index = this.#page.store.placeOf(this.#row.row) ?? this.#index;
  }

  showReview(): void {
    if (this.#row === undefined || !this.isOpen) return;
    const review = this.#page.reviews.of(this.#row);
    this.#dialog.classList.toggle('rejected', review?.verdict === 'rejected');
    this.#dialog.classList.toggle('kept', review?.verdict === 'kept');
    this.#form?.show(review);
    this.#showProgress();
  }

  /** The row to which the view goes; `undefined` until it is loaded, so that no verdict is given to the row before. */
  #inSight(): PageRow | undefined {
    return this.#page.store.numberAt(this.#index) === this.#row?.row ? this.#row : undefined;
  }

  #neighbour(by: number): number | undefined {
    const found = this.#gallery().found;
    return found[found.indexOf(this.#index) + by];
  }

  async #prepareNeighbours(index: number): Promise<void> {
    const near = [1, -1, 2].flatMap((by) => this.#neighbour(by) ?? []);
    for (const { picture, references } of await this.#page.store.load(near)) {
      if (this.#index !== index) return;
      if (picture !== undefined) await this.area.pictures.prepare(picture.path, picture.thumb);
      const [original] = references;
      if (original !== undefined) await this.area.pictures.prepare(original.path, original.thumb);
    }
  }

  #showProgress(): void {
    const found = this.#gallery().found;
    const left = this.#gallery().undecided().length;
    const place = `${formatCount(found.indexOf(this.#index) + 1)} of ${formatCount(found.length)}`;
    // Rows that failed have no picture to decide about.
    const all = this.#gallery().toDecide().length;
    const words = left === 0 ? 'all decided' : `${formatCount(left)} to decide`;
    this.#progress.replaceChildren(h('b', {}, place), all === 0 ? '' : ` ${words}`);
    this.#progress.classList.toggle('done', all > 0 && left === 0);
    this.#progress.style.setProperty('--done', `${all === 0 ? 0 : 100 - (left / all) * 100}%`);
  }

  #drawPanel(row: PageRow): void {
    const { run } = this.#page.data;
    const canReview = canDecide(row, 'rejected');
    this.#form = canReview ? new ReviewForm(row, this.#page, (verdict) => this.decide(verdict)) : undefined;
    this.#panel.replaceChildren(
      this.#drawSteps(),
      this.#progress,
      h('h2', {}, h('span', { class: 'number' }, row.row), ' ', row.id),
      drawStatus(row, run.isRehearsal),
      this.#form?.element ?? '',
      canRepeat(row) ? '' : drawWhyNot(row, run),
      (row.picture !== undefined && drawSavedFiles(row)) || '',
      drawFacts(row, run.isRehearsal),
    );
  }

  #drawSteps(): HTMLElement {
    const step = (label: string, sign: string, by: number): HTMLElement => {
      const disabled = this.#neighbour(by) === undefined;
      return button(() => this.step(by), { 'aria-label': label, disabled }, sign);
    };
    const undo = button(() => this.goTo(this.#page.reviews.undo() ?? -1), {}, 'Undo');
    const close = button(() => this.close(), { class: 'close' }, 'Close', keySign('Esc'));
    return h('div', { class: 'steps' }, step('Previous', '←', -1), step('Next', '→', 1), undo, close);
  }
}
