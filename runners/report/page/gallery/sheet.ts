import type { PageRow } from '../../page-data.js';
import { h } from '../dom.js';
import type { Review, Verdict } from '../review/redo-manifest.js';
import { drawFrame } from './draw-frame.js';

export interface SheetActions {
  /** A click on the row's picture. */
  open(row: PageRow, event: MouseEvent): void;
  decide(row: PageRow, verdict: Verdict | null): void;
  readonly isRehearsal: boolean;
  reviewOf(row: PageRow): Review | undefined;
}

interface Drawn {
  readonly row: PageRow;
  readonly review: Review | undefined;
  readonly frame: HTMLElement;
}

/** One page of frames. One of them is the current one: the only one that Tab reaches. */
export class Sheet {
  readonly element = h('ul', { class: 'sheet' });
  readonly #actions: SheetActions;
  #drawn: readonly Drawn[] = [];
  #current = 0;

  constructor(actions: SheetActions) {
    this.#actions = actions;
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  get current(): number {
    return this.#current;
  }

  /** Draws these rows; frames of rows that have not changed stay as they are. */
  draw(rows: readonly PageRow[], whenEmpty: string): void {
    const before = new Map(this.#drawn.map((drawn) => [drawn.row.id, drawn]));
    const currentId = this.#drawn[this.#current]?.row.id;
    const focused = this.element.contains(document.activeElement) ? document.activeElement : null;
    this.#drawn = rows.map((row) => this.#drawOne(row, before.get(row.id)));
    const frames = this.#drawn.map(({ frame }) => frame);
    showFrames(this.element, frames.length > 0 ? frames : [h('li', { class: 'empty' }, whenEmpty)]);
    const place = rows.findIndex(({ id }) => id === currentId);
    this.makeCurrent(place < 0 ? Math.min(this.#current, rows.length - 1) : place, false);
    if (focused !== null) this.#focusLike(focused);
  }

  /** Draws the frames again whose reviews have changed. */
  showReviews(whenEmpty: string): void {
    this.draw(
      this.#drawn.map(({ row }) => row),
      whenEmpty,
    );
  }

  /** The rows with these ids are selected. */
  showSelected(ids: ReadonlySet<string>): void {
    for (const { row, frame } of this.#drawn) {
      frame.classList.toggle('selected', ids.has(row.id));
      frame.querySelector('.result')?.toggleAttribute('aria-current', ids.has(row.id));
    }
  }

  makeCurrent(place: number, focus: boolean): void {
    setCurrent(this.#frame(), false);
    this.#current = Math.max(0, Math.min(place, this.#drawn.length - 1));
    setCurrent(this.#frame(), true);
    if (focus) this.#frame()?.querySelector<HTMLElement>('.result')?.focus();
  }

  columns(): number {
    const tops = this.#drawn.map(({ frame }) => frame.offsetTop);
    return Math.max(1, tops.filter((top) => top === tops[0]).length);
  }

  #drawOne(row: PageRow, before: Drawn | undefined): Drawn {
    const review = this.#actions.reviewOf(row);
    const isSame = before?.review === review && (before?.row === row || isEqual(before?.row, row));
    if (before !== undefined && isSame) return before;
    const frame = drawFrame(row, review, {
      isRehearsal: this.#actions.isRehearsal,
      open: (event) => this.#actions.open(row, event),
      decide: (verdict) => this.#actions.decide(row, verdict),
    });
    setCurrent(frame, false);
    return { row, review, frame };
  }

  /** What had the focus may have been drawn anew. */
  #focusLike(element: Element): void {
    const again = this.#frame()?.querySelector<HTMLElement>(`.${element.classList.item(0) ?? 'result'}`);
    if (document.activeElement !== again) again?.focus({ preventScroll: true });
  }

  #frame(): HTMLElement | undefined {
    return this.#drawn[this.#current]?.frame;
  }
}

/** Only what has changed is put in: a verdict must not lay out a hundred frames anew. */
function showFrames(sheet: HTMLElement, frames: readonly HTMLElement[]): void {
  if (frames.length !== sheet.children.length) return sheet.replaceChildren(...frames);
  const known = new Set(sheet.children);
  for (const [place, old] of [...sheet.children].entries()) {
    const frame = frames[place];
    if (frame === undefined || frame === old) continue;
    // They have moved: one by one they would push each other out.
    if (known.has(frame)) return sheet.replaceChildren(...frames);
    old.replaceWith(frame);
  }
}

function isEqual(one: PageRow | undefined, other: PageRow): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function setCurrent(frame: HTMLElement | undefined, isCurrent: boolean): void {
  if (frame === undefined) return;
  frame.classList.toggle('current', isCurrent);
  for (const control of frame.querySelectorAll<HTMLElement>('button, a'))
    control.tabIndex = isCurrent ? 0 : -1;
}
