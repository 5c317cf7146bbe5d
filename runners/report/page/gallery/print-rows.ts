import type { Page } from '../page.js';
import { loadThumbnail } from '../rows/draw-thumbnail.js';
import type { FoundPage } from './row-cursor.js';
import type { Sheet } from './sheet.js';

/** Laying out more rows would take a browser minutes. */
const mostPrinted = 5000;

interface PrintNeeds {
  readonly page: Page;
  readonly sheet: Sheet;
  readonly shown: () => FoundPage;
  readonly whenEmpty: () => string | HTMLElement;
}

/**
 * Prints every found row, not only the drawn page: at `beforeprint` if the rows are in the page, and by the print key if they
 * must be loaded first.
 */
export function printAllRows({ page, sheet, shown, whenEmpty }: PrintNeeds): void {
  const putBack = (): void => sheet.draw(shown().rows, whenEmpty());
  window.addEventListener('beforeprint', () => {
    const rows = page.store.loadNow(shown().found);
    if (rows !== undefined) sheet.draw(rows, whenEmpty());
  });
  window.addEventListener('afterprint', putBack);
  document.addEventListener('keydown', (event) => {
    const isPrint = (event.ctrlKey || event.metaKey) && event.key === 'p' && !event.shiftKey;
    if (!isPrint || page.data.source.kind === 'inline') return;
    event.preventDefault();
    void load().then(() => {
      window.print();
      putBack();
    });
  });
  async function load(): Promise<void> {
    sheet.draw(await page.store.load(shown().found.slice(0, mostPrinted)), whenEmpty());
    for (const picture of sheet.element.querySelectorAll('img')) loadThumbnail(picture, { asImage: true });
    while (sheet.element.querySelector('img.loading') !== null)
      await new Promise((next) => requestAnimationFrame(next));
  }
}
