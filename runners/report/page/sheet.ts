import type { PageRow } from '../page-data.js';
import { h } from './dom.js';
import { drawFrame } from './frame.js';
import type { Mark } from './mark.js';

export interface SheetActions {
  open(place: number): void;
  toggle(place: number): void;
  markOf(row: PageRow): Mark | undefined;
}

/** One page of frames. One of them is the current one: the only one that Tab reaches. */
export interface Sheet {
  readonly element: HTMLElement;
  readonly current: number;
  draw(rows: readonly PageRow[], whenEmpty: string): void;
  /** Draws the frames again whose marks have changed. */
  redraw(): void;
  makeCurrent(place: number, focus: boolean): void;
  columns(): number;
}

export function createSheet(actions: SheetActions): Sheet {
  const element = h('ul', { class: 'sheet' });
  let rows: readonly PageRow[] = [];
  let marks: (Mark | undefined)[] = [];
  let current = 0;
  const frameAt = (place: number): HTMLElement | null => element.children.item(place) as HTMLElement | null;

  function drawAt(row: PageRow, place: number): HTMLElement {
    const mark = actions.markOf(row);
    marks[place] = mark;
    return drawFrame(row, mark, { open: () => actions.open(place), toggle: () => actions.toggle(place) });
  }

  return {
    element,
    get current() {
      return current;
    },
    draw(given, whenEmpty) {
      rows = given;
      marks = [];
      const frames = rows.map(drawAt);
      element.replaceChildren(...(frames.length > 0 ? frames : [h('li', { class: 'empty' }, whenEmpty)]));
    },
    redraw() {
      for (const [place, row] of rows.entries()) {
        if (marks[place] === actions.markOf(row)) continue;
        const old = frameAt(place);
        const focused = old?.contains(document.activeElement) === true ? document.activeElement : null;
        const frame = drawAt(row, place);
        old?.replaceWith(frame);
        if (place === current) setCurrent(frame, true);
        if (focused !== null)
          frame.querySelector<HTMLElement>(`.${focused.classList.item(0) ?? 'result'}`)?.focus();
      }
    },
    makeCurrent(place, focus) {
      setCurrent(frameAt(current), false);
      current = Math.max(0, Math.min(place, rows.length - 1));
      setCurrent(frameAt(current), true);
      if (focus) frameAt(current)?.querySelector<HTMLElement>('.result')?.focus();
    },
    columns() {
      const tops = [...element.children].map((frame) => (frame as HTMLElement).offsetTop);
      return Math.max(1, tops.filter((top) => top === tops[0]).length);
    },
  };
}

function setCurrent(frame: HTMLElement | null, isCurrent: boolean): void {
  frame?.classList.toggle('current', isCurrent);
  for (const control of frame?.querySelectorAll<HTMLElement>('button, a') ?? [])
    control.tabIndex = isCurrent ? 0 : -1;
}
