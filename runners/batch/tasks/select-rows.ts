import type { SelectedBy, RowSelection } from '../manifest/rows/row-selection.js';

/** The part of a manifest that `only` and `limit` select. Use one instance for each pass. */
export class SelectRows {
  private readonly only: RowSelection | undefined;
  private readonly notSeen: Set<string>;
  private left: number;

  constructor({ limit, only }: { readonly limit: number; readonly only: RowSelection | undefined }) {
    this.only = only;
    this.notSeen = new Set(only?.entries());
    this.left = limit;
  }

  /** Whether this start does a row that is to be done. */
  takes(row: SelectedBy): boolean {
    if (this.left === 0 || this.only?.has(row) === false) return false;
    this.left--;
    return true;
  }

  /** Call this with every row, so that `missing` can name the entries that match no row. */
  see(row: SelectedBy): void {
    if (this.notSeen.size === 0 || this.only === undefined) return;
    for (const entry of this.only.entriesOf(row)) this.notSeen.delete(entry);
  }

  /** The limit is reached. */
  get isFull(): boolean {
    return this.left === 0;
  }

  /** Entries of `only` that match no row. */
  missing(): string[] {
    return [...this.notSeen];
  }
}
