import { formatMoney } from '../../../../src/contract/micro-dollars.js';
import { countOf } from '../../messages/format-amounts.js';
import type { PageReference, PageRow } from '../../page-data.js';
import { sentenceCase, statusLabel, toneOf } from '../../messages/status-label.js';
import { visibleText } from '../../messages/escape-html.js';
import { button, check, h, link, pencilCross } from '../dom.js';
import { thumbnail } from '../rows/draw-thumbnail.js';
import type { Review, Verdict } from '../review/redo-manifest.js';
import { fileWords } from '../large/saved-files.js';
import { canDecide } from '../review/reviews.js';
import { requestText } from '../rows/row-store.js';

export interface FrameActions {
  /** A click on the row's picture; with Shift or Ctrl the row is selected. */
  open(row: PageRow, event: MouseEvent): void;
  decide(row: PageRow, verdict: Verdict | null): void;
  /** A rehearsal: frames show no price. */
  readonly isRehearsal: boolean;
  reviewOf(row: PageRow): Review | undefined;
}

const verdicts = ['kept', 'rejected'] as const;
const names = { kept: ['Keep', 'Kept'], rejected: ['Reject', 'Rejected'] } as const;
const drawings = {
  kept: { name: 'tick', draw: check },
  rejected: { name: 'pencil', draw: pencilCross },
} as const;
const referencesShown = 3;

/**
 * One frame of the contact sheet: the references beside the result, with number, id, cost and prompt. A verdict does
 * not redraw its pictures.
 */
export class Frame {
  readonly element: HTMLElement;
  /** The picture of the result, as the button that opens it. */
  readonly result: HTMLElement;
  readonly row: PageRow;
  readonly #name = h('span', { class: 'unseen' });
  readonly #stars = h('span', { class: 'stars', role: 'img' });
  readonly #prompt = h('p', { class: 'prompt' });
  readonly #buttons: readonly (readonly [verdict: Verdict, button: HTMLElement, word: Text])[];
  #review: Review | undefined;

  constructor(row: PageRow, actions: FrameActions) {
    this.row = row;
    this.result = drawResult(row, this.#name, actions);
    this.#buttons = verdicts
      .filter((verdict) => canDecide(row, verdict))
      .map((verdict) => {
        const word = document.createTextNode('');
        const decide = (): void => actions.decide(row, this.#review?.verdict === verdict ? null : verdict);
        return [verdict, drawVerdict(verdict, row.id, word, decide), word];
      });
    this.element = h(
      'li',
      { class: `frame ${toneOf(row.status)}` },
      h('div', { class: 'mat' }, drawReferences(row.references), this.result),
      drawEdge(row, this.#stars, actions.isRehearsal),
      this.#prompt,
      h('p', { class: 'verdicts' }, ...this.#buttons.map(([, button]) => button)),
    );
    this.#draw(actions.reviewOf(row));
  }

  show(review: Review | undefined): void {
    if (review !== this.#review) this.#draw(review);
  }

  /** Makes it the only frame that Tab reaches. */
  makeCurrent(isCurrent: boolean): void {
    this.element.classList.toggle('current', isCurrent);
    for (const control of this.element.querySelectorAll<HTMLElement>('button, a'))
      control.tabIndex = isCurrent ? 0 : -1;
  }

  select(isSelected: boolean): void {
    if (this.element.classList.contains('selected') === isSelected) return;
    this.element.classList.toggle('selected', isSelected);
    if (isSelected) this.result.setAttribute('aria-current', 'true');
    else this.result.removeAttribute('aria-current');
  }

  #draw(review: Review | undefined): void {
    this.#review = review;
    const { row } = this;
    for (const [verdict, button, word] of this.#buttons) {
      const isPressed = review?.verdict === verdict;
      button.setAttribute('aria-pressed', String(isPressed));
      word.data = names[verdict][isPressed ? 1 : 0];
    }
    showReview(review, this.element, this.result, this.#stars);
    const decided = review?.verdict === undefined ? '' : `, ${review.verdict}`;
    const toGo = row.toGo === true ? ', to go' : '';
    this.#name.textContent = visibleText(`${row.id}, ${statusLabel(row.status)}${toGo}${decided}`);
    this.#prompt.textContent = visibleText(review?.prompt ?? requestText(row));
  }
}

/** Shows verdict and stars of a row. The tick or the cross is drawn only when needed: most rows of a page have no verdict. */
export function showReview(
  { verdict, stars }: Partial<Review> = {},
  element: HTMLElement,
  picture: HTMLElement,
  place: HTMLElement,
): void {
  for (const one of verdicts) element.classList.toggle(one, verdict === one);
  if (verdict !== undefined && picture.querySelector(`.${drawings[verdict].name}`) === null)
    picture.append(drawings[verdict].draw());
  place.hidden = stars === undefined;
  place.textContent = '★'.repeat(stars ?? 0);
  place.setAttribute('aria-label', countOf(stars ?? 0, 'star'));
}

function drawEdge(row: PageRow, stars: HTMLElement, isRehearsal: boolean): HTMLElement {
  const versions = row.earlier?.length ?? 0;
  return h(
    'p',
    { class: 'edge' },
    h('span', { class: 'number' }, row.row),
    h('span', { class: 'id', title: row.id }, row.id),
    row.toGo === true && h('span', { class: 'again', title: 'shown until the new result is there' }, 'to go'),
    versions > 0 && h('span', { class: 'again', title: 'bought again' }, `×${versions + 1}`),
    stars,
    !isRehearsal &&
      row.cost !== undefined &&
      row.cost !== null &&
      h('span', { class: 'cost' }, formatMoney(row.cost)),
  );
}

function drawReferences(references: readonly PageReference[]): HTMLElement | false {
  if (references.length === 0) return false;
  const more = references.length - referencesShown;
  return h(
    'div',
    { class: 'references' },
    ...references.slice(0, referencesShown).map(drawReference),
    more > 0 && h('span', { class: 'more' }, `+${more}`),
  );
}

function drawReference(reference: PageReference): HTMLElement {
  const standIn = (): HTMLElement => drawUnseen(reference);
  return thumbnail(reference.thumb, `Reference ${reference.name}`, standIn) ?? standIn();
}

/** In place of a reference that is on the web, is gone, or is no picture. */
function drawUnseen({ name, url }: PageReference): HTMLElement {
  const host = /^https?:\/\/([^/]+)/i.exec(url ?? '')?.[1];
  return link(url, host === undefined ? '?' : '↗', {
    class: 'remote',
    title: name,
    'aria-label': `Reference ${name}`,
    tabindex: '-1',
  });
}

function drawResult(row: PageRow, name: HTMLElement, actions: FrameActions): HTMLElement {
  const open = (event: MouseEvent): void => actions.open(row, event);
  return button(open, { class: 'result', tabindex: '-1' }, name, resultContent(row));
}

export function resultContent(row: PageRow): HTMLElement {
  const missing = `File not found: ${decodeURIComponent(row.picture?.path ?? row.id)}`;
  const picture = thumbnail(row.picture?.thumb, '', () => h('span', { class: 'words' }, missing));
  if (picture !== undefined) return picture;
  if (row.error !== undefined)
    return h(
      'span',
      { class: 'words' },
      h('b', {}, sentenceCase(statusLabel(row.status))),
      h('span', {}, row.error.message),
    );
  if (row.files !== undefined)
    return h('span', { class: 'words files' }, ...row.files.map((file) => h('span', {}, fileWords(file))));
  return h('span', { class: 'words output' }, row.output ?? 'No picture');
}

function drawVerdict(verdict: Verdict, id: string, word: Text, decide: () => void): HTMLElement {
  const name = verdict === 'kept' ? 'keep' : 'reject';
  return button(decide, { class: name, tabindex: '-1' }, word, h('span', { class: 'unseen' }, ` ${id}`));
}
