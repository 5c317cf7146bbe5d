import type { Gallery } from './gallery/gallery.js';
import type { LargeView } from './large/large-view.js';
import type { Page } from './page.js';

const moves = {
  ArrowLeft: 'left',
  ArrowRight: 'right',
  ArrowUp: 'up',
  ArrowDown: 'down',
  j: 'right',
  k: 'left',
  Home: 'first',
  End: 'last',
} as const;

/** Every key of the page. Fields keep theirs, but for Escape. */
export function listenToKeys(page: Page, gallery: Gallery, large: LargeView): void {
  document.addEventListener('keydown', (event) => {
    const target = event.target as HTMLElement;
    const inField =
      /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) && target.getAttribute('type') !== 'radio';
    const isUndo = (event.ctrlKey || event.metaKey) && event.key === 'z' && !event.shiftKey;
    if (isUndo && !inField && page.rejections.undo()) event.preventDefault();
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
    if (inField) leaveField(event, target);
    else if (large.isOpen) largeKey(event, large);
    else galleryKey(event, page, gallery);
  });
  document.addEventListener('keyup', (event) => {
    if (event.key === 'b') large.compare(false);
  });
}

function leaveField(event: KeyboardEvent, field: HTMLElement): void {
  if (event.key !== 'Escape') return;
  event.preventDefault();
  if (field instanceof HTMLInputElement && field.value !== '') {
    field.value = '';
    field.dispatchEvent(new Event('input'));
  } else field.blur();
}

function largeKey(event: KeyboardEvent, large: LargeView): void {
  const isRadio = event.target instanceof HTMLInputElement;
  const step = { ArrowLeft: -1, ArrowRight: 1, k: -1, j: 1 }[event.key];
  if (event.key === 'Escape') large.close();
  else if (step !== undefined && !isRadio) large.step(step);
  else if (event.key === 'x') large.toggle();
  else if (event.key === 'e') large.editPrompt();
  else if (event.key === 'b') large.compare(true);
  else return;
  event.preventDefault();
}

function galleryKey(event: KeyboardEvent, page: Page, gallery: Gallery): void {
  const inGallery = (event.target as HTMLElement).closest('.sheet') !== null;
  const current = gallery.current();
  if (event.key === '/') gallery.focusSearch();
  else if (event.key === 'x' && current !== undefined) page.toggle(current.row);
  else if (event.key === 'Enter' && !isControl(event.target) && current !== undefined)
    page.openLarge(current.index);
  else if (event.key in moves && (inGallery || event.key === 'j' || event.key === 'k'))
    gallery.move(moves[event.key as keyof typeof moves]);
  else return;
  event.preventDefault();
}

function isControl(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest('a, button, summary') !== null;
}
