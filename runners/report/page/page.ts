import type { PageData, PageRow } from '../page-data.js';
import type { Rejections } from './rejections.js';
import type { PageAddress } from './page-address.js';
import type { RowStore } from './row-store.js';

/** What the parts of the page share. */
export interface Page {
  data: PageData;
  store: RowStore;
  readonly rejections: Rejections;
  readonly address: PageAddress;
  /** Opens the large view on a row. */
  openLarge(index: number): void;
  /** Rejects a row or takes that back, where it can be sent again. */
  toggle(row: PageRow): void;
}
