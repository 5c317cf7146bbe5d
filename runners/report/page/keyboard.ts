import type { Gallery } from './gallery/gallery.js';
import type { Move } from './gallery/row-cursor.js';
import type { LargeView } from './large/large-view.js';
import type { Page } from './page.js';
import { button, h, keySign, openDialog } from './dom.js';

const moves: Readonly<Record<string, Move>> = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  j: 'right',
  k: 'left',
  Home: 'first',
  End: 'last',
};

/** The keys and what they do, for the list of keys. */
export const keyList: readonly (readonly [heading: string, keys: readonly (readonly [string, string])[]])[] =
  [
    [
      'Decide',
      [
        ['P', 'keep and go on'],
        ['X', 'reject and go on'],
        ['U', 'take the verdict away'],
        ['1–5, 0', 'stars, none'],
        ['Ctrl Z', 'undo'],
      ],
    ],
    [
      'Move',
      [
        ['← →, J K', 'previous, next'],
        ['Enter', 'open'],
        ['Esc', 'close, clear'],
        ['/', 'search'],
      ],
    ],
    [
      'Select',
      [
        ['Shift ← →', 'from here to there'],
        ['Ctrl click', 'one more'],
        ['A', 'all that are found'],
      ],
    ],
    [
      'Large view',
      [
        ['Z', '1:1 and back'],
        ['+ −', 'closer, farther'],
        ['Shift arrows', 'move in the picture'],
        ['B', 'show the original: hold or press'],
        ['S, O', 'slider, overlay'],
        [', .', 'move the slider'],
        ['R', 'next reference or version'],
        ['E, N', 'edit the prompt, write a note'],
      ],
    ],
  ];

export interface KeyTargets {
  readonly page: Page;
  readonly gallery: Gallery;
  readonly large: LargeView;
  readonly help: () => void;
  readonly undo: () => void;
}

/** All keys of the page. A text field keeps its keys, except Escape; other dialogs have their own keys. */
export function listenToKeys(targets: KeyTargets): void {
  const { large } = targets;
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const inField =
      /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) &&
      !/^(radio|range)$/.test(target.getAttribute('type') ?? '');
    if (event.defaultPrevented || document.querySelector('dialog[open]:not(.of-row)') !== null) return;
    const isUndo = (event.ctrlKey || event.metaKey) && event.key === 'z' && !event.shiftKey;
    if (isUndo && !inField) {
      targets.undo();
      event.preventDefault();
    }
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (inField) return leaveField(event, target);
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const isDone = large.isOpen ? largeKey(key, event, large) : galleryKey(key, event, targets);
    if (isDone || sharedKey(key, targets)) event.preventDefault();
  });
  document.addEventListener('keyup', (event) => {
    if (event.key.toLowerCase() === 'b' && large.isOpen) large.area.press(event);
  });
}

function leaveField(event: KeyboardEvent, field: HTMLElement): void {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  if (field instanceof HTMLInputElement && field.type === 'search' && field.value !== '') {
    field.value = '';
    field.dispatchEvent(new Event('input'));
  } else field.blur();
}

/** Keys that work in the gallery and in the large view. `false`: the key does nothing. */
function sharedKey(key: string, { gallery, large, help }: KeyTargets): boolean {
  const subject = large.isOpen ? large : gallery.cursor;
  if (key === 'p') void subject.decide('kept');
  else if (key === 'x') void subject.decide('rejected');
  else if (key === 'u') void subject.decide(null);
  else if (/^[0-5]$/.test(key)) subject.rate(key === '0' ? null : Number(key));
  else if (key === '?') help();
  else return false;
  return true;
}

const pans: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-0.2, 0],
  ArrowRight: [0.2, 0],
  ArrowUp: [0, -0.2],
  ArrowDown: [0, 0.2],
};

function largeKey(key: string, event: KeyboardEvent, large: LargeView): boolean {
  const { area } = large;
  // A slider or a player uses the arrow keys itself.
  const ofField = event.target instanceof HTMLInputElement || event.target instanceof HTMLMediaElement;
  const step = { ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 }[key];
  const pan = event.shiftKey ? pans[key] : undefined;
  if (key === 'Escape') large.close();
  else if (pan !== undefined && area.zoom.isClose) area.zoom.pan(...pan);
  else if (step !== undefined && !(ofField && key.startsWith('Arrow'))) large.step(step);
  else if (key === 'e') large.focusField('next-prompt');
  else if (key === 'n') large.focusField('row-note');
  else if (key === 'z') area.zoom.toggle();
  else if (key === '+' || key === '=') area.zoom.closer(1);
  else if (key === '-') area.zoom.closer(-1);
  else if (key === 'b') area.press(event);
  else if (key === 's') area.setMode('slider');
  else if (key === 'o') area.setMode('overlay');
  else if (key === 'r') area.nextComparand();
  else if (key === ',' || key === '.') area.shift(key === ',' ? -5 : 5);
  else return false;
  return true;
}

function galleryKey(key: string, event: KeyboardEvent, { page, gallery }: KeyTargets): boolean {
  const target = event.target as HTMLElement;
  const inGallery = target.closest('.sheet') !== null;
  const isControl = target.closest('a, button, summary') !== null;
  const current = gallery.cursor.current();
  const move = moves[key];
  if (key === '/') gallery.focusSearch();
  else if (key === 'a') gallery.selection.all(gallery.found);
  else if (key === 'Escape') return gallery.selection.clear();
  else if (key === 'Enter' && !isControl && current !== undefined) page.openLarge(current.index);
  else if (move !== undefined && (inGallery || key === 'j' || key === 'k'))
    gallery.cursor.move(move, event.shiftKey);
  else return false;
  return true;
}

/** The list of keys, in a dialog of its own. */
export function openKeyHelp(): void {
  const close = button(() => dialog.close(), {}, 'Close', keySign('Esc'));
  const groups = keyList.map(([heading, keys]) =>
    h(
      'section',
      {},
      h('h3', {}, heading),
      h('dl', {}, ...keys.flatMap(([key, does]) => [h('dt', {}, h('kbd', {}, key)), h('dd', {}, does)])),
    ),
  );
  const dialog = h(
    'dialog',
    { class: 'key-help', 'aria-labelledby': 'key-help' },
    h('h2', { id: 'key-help' }, 'Keys'),
    ...groups,
    close,
  );
  openDialog(dialog);
}
