import type { Disk } from '../disk/disk.js';
import { onDisk } from '../disk/disk-fault.js';
import type { IdKeeper } from '../manifest/ids/id-book.js';
import type { ManifestSettings } from '../manifest/manifest-settings.js';
import { ManifestError } from '../manifest/manifest-error.js';
import { readManifest } from '../manifest/read-manifest.js';
import type { ManifestItem } from '../manifest/row.js';

const chunkBytes = 1 << 16;

/** Where rows come from. */
interface ManifestPlace {
  readonly path: string;
  readonly settings: ManifestSettings;
  /** They arrive while the run goes. */
  readonly live?: AsyncIterable<unknown> | Iterable<unknown>;
}

/** The rows of a manifest, each made when it is asked for; `ids` as in `readManifest`. */
export function readRows(
  disk: Disk,
  { path, settings, live }: ManifestPlace,
  ids?: IdKeeper,
): AsyncIterable<ManifestItem> {
  // Of rows that arrive while the run goes nothing is known before.
  if (live !== undefined) return nothing();
  return readManifest(readBytes(disk, path, settings.name), settings, ids);
}

async function* readBytes(disk: Disk, path: string, name: string): AsyncGenerator<Uint8Array> {
  const file = await disk.open(path, 'r').catch((cause: unknown) => {
    throw new ManifestError(name, `cannot be read: ${(cause as Error).message}`, { cause });
  });
  try {
    for (let position = 0; ;) {
      const chunk = Buffer.allocUnsafeSlow(chunkBytes);
      const count = await onDisk(path, () => file.read(chunk, position));
      if (count === 0) return;
      position += count;
      yield chunk.subarray(0, count);
    }
  } finally {
    await file.close().catch(() => undefined);
  }
}

async function* nothing(): AsyncGenerator<never> {
  // No row.
}
