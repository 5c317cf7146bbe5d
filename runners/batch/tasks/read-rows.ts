import type { Disk } from '../disk/disk.js';
import { type IdKeeper, IdBook } from '../manifest/duplicates/id-book.js';
import type { ResolvedManifest } from '../context/resolved-options.js';
import { readManifest } from '../manifest/read-manifest.js';
import type { ManifestItem } from '../manifest/manifest-row.js';
import { PricedBytes } from './priced-bytes.js';
import { Column, RowSet } from '../journal/rows/column.js';
import type { RowStates } from '../journal/rows/row-states.js';

/** The rows of a manifest, each created when it is pulled; `ids` as in `readManifest`. Without `bytes`, any bytes are accepted. */
export function readRows(
  disk: Disk,
  { path, settings, bytes = new PricedBytes(), live }: Omit<ResolvedManifest, 'keep'>,
  ids?: IdKeeper,
): AsyncIterable<ManifestItem> {
  // Rows that arrive during the run are not known in advance.
  if (live !== undefined) return nothing();
  return readManifest(bytes.read(disk, path, settings), settings, ids, bytes.leftOut);
}

async function* nothing(): AsyncGenerator<never> {
  // There are no rows.
}

/**
 * The ids that are taken in one pass over a manifest. An id that the journal knows needs no entry of its own, only its
 * line, stored by the row's index in the journal. No rows may be added to the journal's table meanwhile.
 */
export class KnownIds extends IdBook {
  readonly #rows: Pick<RowStates, 'indexOf'>;
  /** The rows that have a line. */
  readonly #seen = new RowSet();
  /** The difference between a row's line and its line if all rows were in the journal's order: usually 0, which takes no memory. */
  readonly #shifts = new Column(Uint32Array);
  #firstLine: number | undefined;

  constructor(rows: Pick<RowStates, 'indexOf'>) {
    super();
    this.#rows = rows;
  }

  override claim(id: string, line: number): number {
    const index = this.#rows.indexOf(id);
    if (index < 0) return super.claim(id, line);
    const expected = index + (this.#firstLine ??= line - index);
    if (this.#seen.has(index)) return (expected + this.#shifts.get(index)) >>> 0;
    this.#seen.add(index);
    this.#shifts.set(index, (line - expected) >>> 0);
    return 0;
  }

  override has(id: string): boolean {
    const index = this.#rows.indexOf(id);
    return index < 0 ? super.has(id) : this.#seen.has(index);
  }
}
