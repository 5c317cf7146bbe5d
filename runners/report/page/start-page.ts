import type { PageData } from '../page-data.js';
import { followLive, updatePart } from './follow-live.js';
import { Gallery } from './gallery/gallery.js';
import { listenToKeys } from './keyboard.js';
import { LargeView } from './large/large-view.js';
import { canRepeat, openRejections } from './rejections.js';
import { openAddress } from './page-address.js';
import type { Page } from './page.js';
import { openRows, readBlock } from './row-store.js';
import { Tray } from './tray.js';
import { followCopyButtons } from './copy-text.js';

/** Brings the report to life: the figures are there without it. */
function start(): void {
  const data = readBlock<PageData>('page-data');
  const [root, largeRoot] = [document.getElementById('rows'), document.getElementById('large')];
  if (data === undefined || root === null || largeRoot === null) return;
  const rejections = openRejections(data);
  const store = openRows(data);
  const page: Page = {
    data,
    store,
    rejections,
    address: openAddress(),
    openLarge: (index) => void large.open(index),
    toggle: (row) => {
      if (canRepeat(row)) rejections.toggle(row);
    },
  };
  const gallery = new Gallery(root, page);
  const large = new LargeView(largeRoot, page, {
    neighbour: (index, by) => gallery.found[gallery.found.indexOf(index) + by],
    opened: (row) => page.address.set({ row }),
    closed(index) {
      page.address.set({ row: undefined });
      void gallery.goTo(index);
    },
  });
  const tray = new Tray(document.body, page, () => gallery.show({ name: 'rejections' }));
  rejections.onChange(() => {
    gallery.showRejections();
    large.showRejection();
    tray.refresh();
  });
  listenToKeys(page, gallery, large);
  followFilterLinks((filter) => gallery.show(filter));
  followCopyButtons();
  const opened = store.placeOf(page.address.read().row ?? -1);
  if (opened !== undefined) page.openLarge(opened);
  window.addEventListener('beforeprint', () => gallery.showAll(true));
  window.addEventListener('afterprint', () => gallery.showAll(false));
  document.querySelector('.skip')?.addEventListener('click', (event) => {
    event.preventDefault();
    gallery.focusCurrent();
  });
  followLive(({ summary, figures, data: newer }) => {
    updatePart('summary', summary);
    updatePart('figures', figures);
    page.data = newer;
    page.store = openRows(newer);
    large.rowsChanged();
    gallery.rowsChanged();
  });
}

/** The figures above the gallery lead to the rows they count. */
function followFilterLinks(show: (filter: { name: string; query: string }) => void): void {
  document.addEventListener('click', (event) => {
    const anchor = (event.target as Element).closest<HTMLElement>('[data-filter]');
    const name = anchor?.dataset['filter'];
    if (name !== undefined) show({ name, query: '' });
  });
}

start();
