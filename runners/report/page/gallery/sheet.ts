import type { PageRow } from '../../page-data.js';
import { h } from '../dom.js';
import { drawFrame } from './draw-frame.js';
import type { Rejection } from '../redo-manifest.js';

export interface SheetActions {
  open(row: PageRow): void;
  toggle(row: PageRow): void;
  readonly isRehearsal: boolean;
  rejectionOf(row: PageRow): Rejection | undefined;
}

interface Drawn {
  readonly row: PageRow;
  readonly rejection: Rejection | undefined;
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

  /** A person is at work in it: by the keyboard, or with the pointer over it. */
  get isInUse(): boolean {
    return this.hasFocus || this.element.matches(':hover');
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
    this.element.replaceChildren(...(frames.length > 0 ? frames : [h('li', { class: 'empty' }, whenEmpty)]));
    const place = rows.findIndex(({ id }) => id === currentId);
    this.makeCurrent(place < 0 ? Math.min(this.#current, rows.length - 1) : place, false);
    if (focused !== null) this.#focusLike(focused);
  }

  /** Draws the frames again whose rejections have changed. */
  showRejections(whenEmpty: string): void {
    this.draw(
      this.#drawn.map(({ row }) => row),
      whenEmpty,
    );
  }

  makeCurrent(place: number, focus: boolean): void {
    this.#current = Math.max(0, Math.min(place, this.#drawn.length - 1));
    for (const [index, { frame }] of this.#drawn.entries()) setCurrent(frame, index === this.#current);
    if (focus) this.#frame()?.querySelector<HTMLElement>('.result')?.focus();
  }

  columns(): number {
    const tops = this.#drawn.map(({ frame }) => frame.offsetTop);
    return Math.max(1, tops.filter((top) => top === tops[0]).length);
  }

  #drawOne(row: PageRow, before: Drawn | undefined): Drawn {
    const rejection = this.#actions.rejectionOf(row);
    const isSame = before?.rejection === rejection && JSON.stringify(before?.row) === JSON.stringify(row);
    if (before !== undefined && isSame) return before;
    const { isRehearsal } = this.#actions;
    const actions = {
      isRehearsal,
      open: () => this.#actions.open(row),
      toggle: () => this.#actions.toggle(row),
    };
    return { row, rejection, frame: drawFrame(row, rejection, actions) };
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

function setCurrent(frame: HTMLElement, isCurrent: boolean): void {
  frame.classList.toggle('current', isCurrent);
  for (const control of frame.querySelectorAll<HTMLElement>('button, a'))
    control.tabIndex = isCurrent ? 0 : -1;
}
