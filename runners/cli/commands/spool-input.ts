import { createWriteStream } from 'node:fs';
import { open, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { DiskFault } from '../../batch/disk/disk-fault.js';
import { makeFolders } from '../../batch/disk/make-folders.js';
import type { CliIo } from '../io/cli-io.js';
import type { ManifestSource } from '../options/find-manifest.js';

/** A manifest that is a file. */
export type SpooledManifest = ManifestSource & { readonly path: string };

/**
 * A manifest from stdin is kept in the run's folder first, whole, so that it can be checked before anything is sent and
 * a later start can say what has changed. A manifest that is a file stays where it is. Throws `DiskFault`.
 */
export async function spoolInput(
  source: ManifestSource,
  out: string,
  io: Pick<CliIo, 'stdin'>,
): Promise<SpooledManifest> {
  if (source.path !== undefined) return { ...source, path: source.path };
  const path = join(out, `manifest.${source.format}`);
  const draft = join(out, `manifest.${process.pid}.tmp`);
  try {
    await makeFolders(out);
    await pipeline(io.stdin, createWriteStream(draft, { flush: true }));
    await rename(draft, path);
    const folder = await open(out);
    await folder.sync().finally(() => folder.close());
  } catch (error) {
    await rm(draft, { force: true }).catch(() => undefined);
    throw new DiskFault(out, (error as NodeJS.ErrnoException).code, error);
  }
  return { ...source, path };
}
