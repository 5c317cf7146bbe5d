import type { PageData, PageRow } from '../page-data.js';
import type { PageAddress } from './page-address.js';
import type { Verdict } from './review/redo-manifest.js';
import type { Reviews } from './review/reviews.js';
import type { RowStore } from './rows/row-store.js';

/** What the parts of the page share. */
export interface Page {
  data: PageData;
  store: RowStore;
  readonly reviews: Reviews;
  readonly address: PageAddress;
  /** Opens the large view on a row. */
  openLarge(index: number): void;
  /** Gives rows a verdict where they can have it; `null` takes it away. */
  decide(rows: readonly PageRow[], verdict: Verdict | null): void;
}
