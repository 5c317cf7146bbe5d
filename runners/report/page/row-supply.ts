import type { PageRow } from '../page-data.js';

/** Hands out rows by their place in the manifest's order. */
export interface RowSupply {
  load(indexes: readonly number[]): Promise<PageRow[]>;
  /** What the search looks through: lower-case text of every row. */
  texts(): Promise<readonly string[]>;
}
