import type { PageRow } from '../../page-data.js';
import { h } from '../dom.js';
import { Frame, type FrameActions } from './frame.js';

/** About as many as a window shows at once. */
const framesInSight = 12;

/** One page of frames. Tab reaches only the current one. */
export class Sheet {
  readonly element = h('ul', { class: 'sheet' });
  readonly #actions: FrameActions;
  #frames: readonly Frame[] = [];
  #current = 0;
  /** Creates the frames that the first step left out. */
  #drawRest: (() => void) | undefined;

  constructor(actions: FrameActions) {
    this.#actions = actions;
  }

  get hasFocus(): boolean {
    return this.element.contains(document.activeElement);
  }

  get current(): number {
    return this.#current;
  }

  /** Draws these rows; frames of rows that have not changed stay as they are. */
  draw(rows: readonly PageRow[], whenEmpty: string | HTMLElement): void {
    this.#drawRest = undefined;
    const before = new Map(this.#frames.map((frame) => [frame.row.id, frame]));
    const currentId = this.#frame()?.row.id;
    const focused = this.hasFocus ? document.activeElement : null;
    this.#frames = rows.map((row) => this.#frameOf(row, before.get(row.id)));
    const elements = this.#frames.map(({ element }) => element);
    showFrames(this.element, elements.length > 0 ? elements : [h('li', { class: 'empty' }, whenEmpty)]);
    const place = rows.findIndex(({ id }) => id === currentId);
    this.makeCurrent(place < 0 ? Math.min(this.#current, rows.length - 1) : place, false);
    if (focused !== null) this.#focusLike(focused);
  }

  /** Draws a new page in two steps when no frame has the focus: the first frames are painted before the others are created. */
  async drawInSteps(
    rows: readonly PageRow[],
    whenEmpty: string | HTMLElement,
    isOvertaken: () => boolean,
  ): Promise<void> {
    const known = new Set(this.#frames.map(({ row }) => row.id));
    const inSight = rows.slice(0, framesInSight);
    if (!this.hasFocus && inSight.length < rows.length && inSight.every(({ id }) => !known.has(id))) {
      const drawRest = (): void => this.draw(rows, whenEmpty);
      this.draw(inSight, whenEmpty);
      this.#drawRest = drawRest;
      await painted();
      // Printing may have drawn all rows in between.
      if (isOvertaken() || this.#drawRest !== drawRest) return;
    }
    this.draw(rows, whenEmpty);
  }

  /** Shows the verdicts in the existing frames. */
  showReviews(): void {
    for (const frame of this.#frames) frame.show(this.#actions.reviewOf(frame.row));
  }

  showSelected(ids: ReadonlySet<string>): void {
    for (const frame of this.#frames) frame.select(ids.has(frame.row.id));
  }

  makeCurrent(place: number, focus: boolean): void {
    if (place >= this.#frames.length) this.#drawRest?.();
    this.#frame()?.makeCurrent(false);
    this.#current = Math.max(0, Math.min(place, this.#frames.length - 1));
    this.#frame()?.makeCurrent(true);
    if (focus) this.#frame()?.result.focus();
  }

  columns(): number {
    const tops = this.#frames.map(({ element }) => element.offsetTop);
    return Math.max(1, tops.filter((top) => top === tops[0]).length);
  }

  #frameOf(row: PageRow, before: Frame | undefined): Frame {
    if (before === undefined || (before.row !== row && !isEqual(before.row, row)))
      return new Frame(row, this.#actions);
    before.show(this.#actions.reviewOf(row));
    return before;
  }

  /** The focused element may have been drawn again. */
  #focusLike(element: Element): void {
    const again = this.#frame()?.element.querySelector<HTMLElement>(
      `.${element.classList.item(0) ?? 'result'}`,
    );
    if (document.activeElement !== again) again?.focus({ preventScroll: true });
  }

  #frame(): Frame | undefined {
    return this.#frames[this.#current];
  }
}

/** Inserts only what has changed: one row that ended must not lay out a hundred frames again. */
function showFrames(sheet: HTMLElement, frames: readonly HTMLElement[]): void {
  const standing = [...sheet.children];
  const isLonger = frames.length > standing.length && standing.every((one, place) => one === frames[place]);
  if (isLonger) return sheet.append(...frames.slice(standing.length));
  if (frames.length !== standing.length) return sheet.replaceChildren(...frames);
  const known = new Set(standing);
  for (const [place, old] of standing.entries()) {
    const frame = frames[place];
    if (frame === undefined || frame === old) continue;
    // The frames have moved: inserting them one by one would push each other out.
    if (known.has(frame)) return sheet.replaceChildren(...frames);
    old.replaceWith(frame);
  }
}

/** Called when the next frame of the page is in sight and the browser is idle; a hidden page paints none. */
function painted(): Promise<void> {
  return new Promise((done) => {
    requestAnimationFrame(() => {
      // Safari does not have `requestIdleCallback`.
      if ('requestIdleCallback' in window) requestIdleCallback(() => done(), { timeout: 100 });
      else setTimeout(done, 30);
    });
    setTimeout(done, 200);
  });
}

function isEqual(one: PageRow, other: PageRow): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
