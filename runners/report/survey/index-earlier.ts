import { join } from 'node:path';
import type { Disk } from '../../batch/disk/disk.js';
import { readJsonl } from '../read/read-jsonl.js';
import type { Place } from '../read/read-places.js';

export const earlierFile = 'earlier.jsonl';

/** Where the superseded results of each row stand, oldest first. */
export async function indexEarlier(
  disk: Disk,
  folder: string,
): Promise<ReadonlyMap<string, readonly Place[]>> {
  const index = new Map<string, Place[]>();
  for await (const { value, offset, length } of readJsonl(disk, join(folder, earlierFile), () => undefined)) {
    const id = value['id'];
    if (typeof id !== 'string') continue;
    const places = index.get(id) ?? [];
    places.push({ file: earlierFile, offset, length });
    index.set(id, places);
  }
  return index;
}
