import { Column } from '../journal/rows/column.js';
import type { RowStates } from '../journal/rows/row-states.js';
import { IdBook } from '../manifest/duplicates/id-book.js';

/**
 * Which ids of a manifest are taken, for one pass over it: those that the journal knows have their place there already,
 * and only a line is kept beside it. The journal's rows must not become more meanwhile.
 */
export class KnownIds extends IdBook {
  readonly #rows: Pick<RowStates, 'indexOf'>;
  /** A bit for each row that has a line. */
  readonly #seen = new Column(Uint8Array);
  /** How far a row's line is from where it would be if all rows stood in the journal's order: mostly 0, which takes no memory. */
  readonly #shifts = new Column(Uint32Array);
  #firstLine: number | undefined;

  constructor(rows: Pick<RowStates, 'indexOf'>) {
    super();
    this.#rows = rows;
  }

  /** Whether the row at this place of the journal has a line. */
  isSeen(index: number): boolean {
    return (this.#seen.get(index >>> 3) & (1 << (index & 7))) !== 0;
  }

  override claim(id: string, line: number): number {
    const index = this.#rows.indexOf(id);
    if (index < 0) return super.claim(id, line);
    const expected = index + (this.#firstLine ??= line - index);
    if (this.isSeen(index)) return (expected + this.#shifts.get(index)) >>> 0;
    this.#seen.set(index >>> 3, this.#seen.get(index >>> 3) | (1 << (index & 7)));
    this.#shifts.set(index, (line - expected) >>> 0);
    return 0;
  }

  override has(id: string): boolean {
    const index = this.#rows.indexOf(id);
    return index < 0 ? super.has(id) : this.isSeen(index);
  }
}
