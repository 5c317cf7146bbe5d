import type { SelectedBy, RowSelection } from '../manifest/rows/row-selection.js';
import type { Disk } from '../disk/disk.js';
import type { IdKeeper } from '../manifest/duplicates/id-book.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import { readManifest } from '../manifest/read-manifest.js';
import type { ManifestItem } from '../manifest/manifest-row.js';
import { PricedBytes } from './priced-bytes.js';

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

/** Where rows come from. */
interface ManifestPlace {
  readonly path: string;
  readonly settings: ManifestSettings;
  /** What earlier readings found in the file, and what this one is held to. @defaultValue nothing: any bytes are read */
  readonly bytes?: PricedBytes;
  /** They arrive while the run goes. */
  readonly live?: AsyncIterable<unknown> | Iterable<unknown>;
}

/** The rows of a manifest, each made when it is asked for; `ids` as in `readManifest`. */
export function readRows(
  disk: Disk,
  { path, settings, bytes = new PricedBytes(), live }: ManifestPlace,
  ids?: IdKeeper,
): AsyncIterable<ManifestItem> {
  // Of rows that arrive while the run goes nothing is known before.
  if (live !== undefined) return nothing();
  return readManifest(bytes.read(disk, path, settings), settings, ids, bytes.leftOut);
}

async function* nothing(): AsyncGenerator<never> {
  // No row.
}
