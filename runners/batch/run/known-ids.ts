import { Column } from '../journal/rows/column.js';
import type { RowStates } from '../journal/rows/row-states.js';
import { IdBook } from '../manifest/ids/id-book.js';

/**
 * Which ids of a manifest are taken, for one pass over it: those that the journal knows have their place there already,
 * and only a line is kept beside it. The journal's rows must not become more meanwhile.
 */
export class KnownIds extends IdBook {
  readonly #rows: Pick<RowStates, 'indexOf'>;
  readonly #lines = new Column(Uint32Array);

  constructor(rows: Pick<RowStates, 'indexOf'>) {
    super();
    this.#rows = rows;
  }

  override claim(id: string, line: number): number {
    const index = this.#rows.indexOf(id);
    if (index < 0) return super.claim(id, line);
    const holder = this.#lines.get(index);
    if (holder === 0) this.#lines.set(index, line);
    return holder;
  }
}
