import type { PageData } from '../page-data.js';
import { followLive, updatePart } from './follow-live.js';
import { Gallery } from './gallery/gallery.js';
import { openKeyHelp, listenToKeys } from './keyboard.js';
import { LargeView } from './large/large-view.js';
import { canDecide, openReviews, type Reviews } from './review/reviews.js';
import { openAddress, type Page } from './page.js';
import { openRows, readBlock } from './rows/row-store.js';
import { Tray } from './review/tray.js';

/** Starts the page's script. The figures are shown without it. */
function start(): void {
  const data = readBlock<PageData>('page-data');
  const [root, largeRoot] = [document.getElementById('rows'), document.getElementById('large')];
  if (data === undefined || root === null || largeRoot === null) return;
  const reviews = openReviews(data);
  const page = pageOf(data, reviews, (index) => void large.open(index));
  const large: LargeView = new LargeView(largeRoot, page, () => gallery);
  const opened = page.store.placeOf(page.address.read().row ?? -1);
  const gallery: Gallery = new Gallery(root, {
    page,
    help: openKeyHelp,
    selected: () => tray.refresh(),
    isLargeOpen: () => large.isOpen,
    async begun() {
      if (opened !== undefined) await large.open(opened);
    },
  });
  const undo = (): void => large.goTo(reviews.undo() ?? -1);
  const tray = new Tray(document.body, page, gallery, undo);
  reviews.onChange(() => {
    gallery.showReviews();
    large.showReview();
    tray.refresh();
  });
  listenToKeys({ page, gallery, large, help: openKeyHelp, undo });
  followLinks(gallery);
  followCopyButtons();
  followLive(({ summary, figures, data: newer }) => {
    // The page was opened before this run began. Reviews are stored under the run's key.
    if (newer.run.key !== page.data.run.key) return location.reload();
    updatePart('summary', summary);
    updatePart('figures', figures);
    const before = page.store;
    page.data = newer;
    page.store = openRows(newer);
    large.rowsChanged();
    gallery.rowsChanged(before).catch(() => gallery.update());
  });
}

function pageOf(data: PageData, reviews: Reviews, openLarge: Page['openLarge']): Page {
  return {
    data,
    store: openRows(data),
    reviews,
    address: openAddress(),
    openLarge,
    decide(rows, verdict) {
      const able = verdict === null ? rows : rows.filter((row) => canDecide(row, verdict));
      if (able.length > 0) reviews.change(able, { verdict });
    },
  };
}

/** The figures above the gallery link to the rows they count, and "Review" to the first row without a verdict. */
function followLinks(gallery: Gallery): void {
  document.addEventListener('click', (event) => {
    const anchor = (event.target as Element).closest<HTMLElement>('[data-filter], [data-review], .skip');
    const { filter, review } = anchor?.dataset ?? {};
    if (anchor === null || (filter === undefined && review === undefined && !anchor.matches('.skip'))) return;
    if (filter !== undefined) return gallery.show({ name: filter, query: '' });
    event.preventDefault();
    if (review === undefined) gallery.cursor.focus();
    else void gallery.review(review);
  });
}

start();

/** Every button with `data-copy` copies that text; when the browser refuses, the text beside it is selected. */
function followCopyButtons(): void {
  document.addEventListener('click', (event) => {
    const button = (event.target as Element).closest<HTMLElement>('[data-copy]');
    const text = button?.dataset['copy'];
    if (button !== null && text !== undefined) void copy(button, text);
  });
}

async function copy(button: HTMLElement, text: string): Promise<void> {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = label), 2000);
  } catch {
    const shown =
      button.parentElement?.querySelector('code') ?? button.closest('details')?.querySelector('.ids');
    if (shown != null) getSelection()?.selectAllChildren(shown);
  }
}
