import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Disk, DiskFile } from '../../runners/batch/disk/disk.js';
import { nodeDisk } from '../../runners/batch/disk/node-disk.js';

/** The real disk, on which the files of a folder may have so many bytes together; its free space says nothing of that. */
export function quotaDisk(folder: string, quota: { bytes: number }): Disk {
  const limited = (file: DiskFile): DiskFile => ({
    ...file,
    async write(bytes, position) {
      const more = Math.max(position + bytes.length - (await file.size()), 0);
      // libuv has no name for EDQUOT.
      if (bytesIn(folder) + more > quota.bytes)
        throw Object.assign(new Error('Disk quota exceeded'), { code: 'Unknown system error -122' });
      return file.write(bytes, position);
    },
  });
  return {
    ...nodeDisk,
    open: async (path, flags, mode) => limited(await nodeDisk.open(path, flags, mode)),
    freeBytes: () => Promise.resolve(2 ** 40),
  };
}

function bytesIn(folder: string): number {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .reduce(
      (sum, { parentPath, name }) =>
        sum + (statSync(join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
      0,
    );
}
