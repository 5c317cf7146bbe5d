import type { Disk } from '../disk/disk.js';
import type { IdKeeper } from '../manifest/duplicates/id-book.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import { readManifest } from '../manifest/read-manifest.js';
import type { ManifestItem } from '../manifest/manifest-row.js';
import { PricedBytes } from './priced-bytes.js';

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
