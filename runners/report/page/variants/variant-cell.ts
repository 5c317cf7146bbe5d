import type { PageRow } from '../../page-data.js';
import { statusLabel } from '../../messages/status-label.js';
import { check, h, pencilCross } from '../dom.js';
import { resultContent } from '../gallery/frame.js';
import type { Review } from '../review/redo-manifest.js';

/** One row in the grid of variants. Its picture stays as it is, whatever a person decides. */
export class VariantCell {
  readonly element: HTMLElement;
  readonly row: PageRow;
  readonly #name = h('span', { class: 'unseen' });
  readonly #stars = h('span', { class: 'stars' });
  #badge: SVGElement | undefined;
  #review: Review | undefined;

  constructor(place: number, row: PageRow, review: Review | undefined, open: () => void) {
    this.row = row;
    this.element = h(
      'button',
      { type: 'button', id: `variant-${place}`, onclick: open },
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
    const verdict = review?.verdict;
    this.element.className = `cell ${verdict ?? ''}`;
    const label = [this.row.id, statusLabel(this.row.status), verdict ?? ''];
    this.#name.textContent = label.filter((part) => part !== '').join(', ');
    this.#badge?.remove();
    this.#badge = verdict === 'kept' ? check() : verdict === 'rejected' ? pencilCross() : undefined;
    if (this.#badge !== undefined) this.element.append(this.#badge);
    this.#stars.textContent = '★'.repeat(review?.stars ?? 0);
    this.#stars.hidden = review?.stars === undefined;
  }
}
