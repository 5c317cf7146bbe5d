import type { Disk } from '../disk/disk.js';
import type { IdKeeper } from '../manifest/duplicates/id-book.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import { readManifest } from '../manifest/read-manifest.js';
import type { ManifestItem } from '../manifest/manifest-row.js';
import { PricedBytes } from './priced-bytes.js';

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
