import { dirname, resolve } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import type { Survey } from '../survey/survey-run.js';

/** Larger files are shown as they are: nothing is made of them. */
const maxBytes = 256 * 2 ** 20;

/** `undefined` when the file is missing, no plain file, or too large. */
export async function readWhole(disk: Disk, path: string): Promise<Uint8Array | undefined> {
  const found = await disk.stat(path).catch(() => undefined);
  if (found?.kind !== 'file' || found.size > maxBytes) return undefined;
  const file = await disk.open(path, 'r');
  try {
    const bytes = Buffer.allocUnsafe(found.size);
    let filled = 0;
    for (let count = -1; count !== 0 && filled < bytes.length; filled += count) {
      count = await file.read(bytes.subarray(filled), filled);
    }
    return bytes.subarray(0, filled);
  } finally {
    await file.close();
  }
}

/** Where the manifests of the run's starts lay: a relative path is from where a start was made, which is here or beside the output. */
export function manifestFoldersOf({ story, folder }: Pick<Survey, 'story' | 'folder'>): string[] {
  const beside = dirname(resolve(folder));
  const folders = story.starts.flatMap(({ manifest }) => [
    resolve(dirname(manifest)),
    resolve(beside, dirname(manifest)),
  ]);
  return [...new Set([...folders, beside])];
}
