import type { SelectedBy, RowSelection } from '../manifest/rows/row-selection.js';
import type { Disk } from '../disk/disk.js';
import type { IdKeeper } from '../manifest/duplicates/id-book.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import { readManifest } from '../manifest/read-manifest.js';
import type { ManifestItem } from '../manifest/manifest-row.js';
import { PricedBytes } from './priced-bytes.js';

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

/** The source of the rows. */
interface ManifestPlace {
  readonly path: string;
  readonly settings: ManifestSettings;
  /** The bytes that earlier passes found in the file; this pass must find the same. @defaultValue any bytes are accepted */
  readonly bytes?: PricedBytes;
  /** Rows that arrive during the run. */
  readonly live?: AsyncIterable<unknown> | Iterable<unknown>;
}

/** The rows of a manifest, each created when it is pulled; `ids` as in `readManifest`. */
export function readRows(
  disk: Disk,
  { path, settings, bytes = new PricedBytes(), live }: ManifestPlace,
  ids?: IdKeeper,
): AsyncIterable<ManifestItem> {
  // Rows that arrive during the run are not known in advance.
  if (live !== undefined) return nothing();
  return readManifest(bytes.read(disk, path, settings), settings, ids, bytes.leftOut);
}

async function* nothing(): AsyncGenerator<never> {
  // There are no rows.
}
