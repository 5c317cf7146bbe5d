import type { SelectedBy, RowSelection } from '../manifest/rows/row-selection.js';

/** The part of a manifest that `only` and `limit` leave to be done. One for each pass. */
export class SelectRows {
  private readonly only: RowSelection | undefined;
  private readonly notSeen: Set<string>;
  private left: number;

  constructor({ limit, only }: { readonly limit: number; readonly only: RowSelection | undefined }) {
    this.only = only;
    this.notSeen = new Set(only?.entries());
    this.left = limit;
  }

  /** Whether the row, which is to be done, is done by this start. */
  takes(row: SelectedBy): boolean {
    if (this.left === 0 || this.only?.has(row) === false) return false;
    this.left--;
    return true;
  }

  /** Takes in every row, so that what no row is found by is known at the end. */
  see(row: SelectedBy): void {
    if (this.notSeen.size === 0 || this.only === undefined) return;
    for (const entry of this.only.entriesOf(row)) this.notSeen.delete(entry);
  }

  /** Nothing is left to be taken. */
  get isFull(): boolean {
    return this.left === 0;
  }

  /** Entries of `only` that no row is found by. */
  missing(): string[] {
    return [...this.notSeen];
  }
}
